import { type Pause, Refusal, type ToolDefinition } from '@intendant/contracts';
import type { Failure, Intent, Proposal } from '@intendant/intent';
import type { Objection } from '@intendant/policy';
import type { ToolIntentMessage } from '@intendant/tools';

export function overloaded(): Refusal {
  return new Refusal(
    'unavailable',
    'Too much is waiting. Nothing was recorded; make the same call again in a moment.',
    { recorded: false },
  );
}

/** Others were faster each time. */
export function contended(): Refusal {
  return new Refusal(
    'unavailable',
    'Too much happens in this run at once. Nothing was recorded; make the same call again in a moment.',
    { recorded: false },
  );
}

export function runClosed(): Refusal {
  return new Refusal('run_closed', 'This run is closed. Nothing was recorded and nothing more can be done in it.');
}

export function paused(tool: ToolDefinition, { reason, since, until }: Pause): Refusal {
  const end = until === null ? 'Nobody has said for how long' : `It ends at ${until}`;
  return new Refusal(
    'paused',
    `${tool.name} is paused: ${reason}. ${end}. Nothing was recorded; make the same call again later, and do not look for another way to do it.`,
    { reason, since, until },
  );
}

export function conflict({ tool, stepId }: ToolIntentMessage, earlier: Intent | null): Refusal {
  return new Refusal(
    'idempotency_conflict',
    `Step ${stepId ?? '(none)'} already called ${tool} with other arguments. Nothing new was recorded. A different call needs a new step; do not change a call to get around this.`,
    { intentId: earlier?.proposal.intentId ?? null },
  );
}

/** To a caller who has not said that it knows. */
export function overBefore({ proposal: { tool, intentId } }: Intent): Refusal {
  return new Refusal(
    'conflict',
    `The same call of ${tool} was made before and is over (intent ${intentId}). Nothing was recorded; whoever wants it again says after which (Intendant-After: ${intentId}).`,
    { after: intentId },
  );
}

/** What needs a person is not done before one was asked. */
export function notAsked({ tool }: Pick<Proposal, 'tool'>): Failure {
  const message = `${tool} needs the approval of a person, and nobody could be asked. Nothing was sent.`;
  return { code: 'rule_denied', message, details: {} };
}

/** A call that is turned away for now, or with these arguments. */
export function turnedAway({ code, message, inputs, rule, remedy }: Objection): Refusal {
  return new Refusal(code, message, { ...inputs, rule, wouldAllow: remedy });
}
