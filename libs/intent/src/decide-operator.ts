import type { Command, Decision } from './commands.js';
import { accept, reject, unchanged } from './decision.js';
import type { IntentEvent } from './events.js';
import { acceptedBy, authorize, endOfAuthority, firstLookup, unknownFrom } from './follow-up.js';
import { lapseOf } from './lapse.js';
import { type Intent, isTerminal, mayHaveRun } from './state.js';
import { keepsKey } from './terms.js';

type OperatorCommand = Extract<Command, { type: 'cancel' | 'expire' | 'replay' | 'resolve' }>;

/** How long a replayed intent may be dispatched once two absences allow it: the operator's authority stands in for the run's. */
const replayAuthorityMs = 3_600_000;

/** Commands of people and of the clock: cancel, expire, replay, resolve. */
export function decideOperator(command: OperatorCommand, intent: Intent, now: number): Decision {
  switch (command.type) {
    case 'cancel':
      return cancel(command.by, intent, now);
    case 'expire':
      return expire(intent, now);
    case 'replay':
      return replay(command, intent, now);
    case 'resolve':
      return resolve(command, intent, now);
  }
}

/**
 * Only what provably never ran may be called cancelled. What may have run is aborted and not sent again, and ends in
 * what really happened.
 */
function cancel(by: string, intent: Intent, now: number): Decision {
  if (isTerminal(intent) || intent.cancelledBy !== null) return unchanged;
  switch (intent.state) {
    case 'awaiting_approval':
    case 'authorized': {
      if (!mayHaveRun(intent.attempts)) return accept({ type: 'cancelled', by });
      // A resend that nobody wants any more; what became of the attempts before it still has to be found out.
      const detail = `the resend was cancelled by ${by}`;
      return accept({ type: 'cancel_requested', by }, unknownFrom(intent, 'cancelled', detail, now));
    }
    case 'dispatching':
    case 'unknown':
      return accept({ type: 'cancel_requested', by });
    case 'pending':
    case 'accepted':
    case 'dead_lettered':
      return reject('in_flight');
  }
}

/** The end of the authority, or of the approval that it was to go by. */
function expire(intent: Intent, now: number): Decision {
  if (intent.state !== 'authorized' && intent.state !== 'awaiting_approval') return unchanged;
  const end = lapseOf(intent, now) ?? (now >= intent.expiresAt ? endOfAuthority(intent) : null);
  return end ? accept(end) : unchanged;
}

/** Reconcile first: a replay makes the outcome unknown again and grants one more attempt, nothing else. */
function replay(command: Extract<Command, { type: 'replay' }>, intent: Intent, now: number): Decision {
  if (intent.state !== 'dead_lettered') return reject('not_dead_lettered');
  const { terms } = intent.proposal;
  const nothingSent = intent.reason === 'adapter_missing' && !mayHaveRun(intent.attempts);
  const followed = terms.poll ? intent.attempts.findLast((a) => a.verdict === 'accepted') : undefined;
  if (terms.lookup === 'none' && !keepsKey(terms) && !nothingSent && !followed) return reject('not_replayable');
  // Dead letters are older than any settle time still running from their last attempt: it started before they died.
  const settleAt = Math.max(now, intent.since + terms.settleMs);
  const requested: IntentEvent = {
    type: 'replay_requested',
    by: command.by,
    reason: command.reason,
    settleAt,
    dueAt: firstLookup(intent, now, settleAt),
    deadline: settleAt + terms.deadlineMs,
    expiresAt: Math.max(intent.expiresAt, settleAt + terms.spacingMs + replayAuthorityMs),
  };
  // What the upstream took on is followed again; nothing is sent for it.
  if (followed) return accept(requested, acceptedBy(followed, followed.accepted ?? null, intent, now));
  return nothingSent ? accept(requested, authorize('not_executed', null, null)) : accept(requested);
}

function resolve(command: Extract<Command, { type: 'resolve' }>, intent: Intent, now: number): Decision {
  if (intent.state !== 'unknown' && intent.state !== 'dead_lettered' && intent.state !== 'accepted') {
    return isTerminal(intent) ? reject('not_resolvable') : reject('in_flight');
  }
  const { by, outcome, externalId, evidence } = command;
  const resolved = { type: 'resolved' as const, by, outcome, externalId, evidence };
  if (outcome === 'executed') {
    return accept(resolved, { type: 'committed', proof: 'operator', attempt: null, data: { externalId, evidence } });
  }
  if (now < settledBy(intent)) return reject('too_early');
  return accept(resolved, {
    type: 'failed',
    failure: {
      code: 'resolved_not_executed',
      message: `${by} found that ${intent.proposal.tool} did not happen: ${evidence}. Nothing will be sent for this intent.`,
      details: {},
    },
  });
}

/** From then on a person, too, can know that it did not happen. */
function settledBy(intent: Intent): number {
  if (intent.state === 'unknown') return intent.settleAt;
  return intent.since + intent.proposal.terms.settleMs;
}
