import type { Facts } from '@intendant/contracts';
import type { Call } from './call.js';
import type { Objection } from './objection.js';

type Run = NonNullable<Facts['run']>;

/** The order in which budgets are looked at, and what they are called outside. */
const kinds = [
  { budget: 'calls', holding: 'calls', title: 'calls' },
  { budget: 'destructive', holding: 'destructive', title: 'destructive calls' },
  { budget: 'mutating', holding: 'mutating', title: 'calls that change something' },
  { budget: 'costMicros', holding: 'cost', title: 'cost' },
] as const;

/** A run may take no more than it was given, what is under way and what nobody knows the end of included. */
export function exhausted(
  { takes, tool }: Call,
  { budgets, used, actsUntil, openedAt, expiresAt }: Run,
  now: number,
): Objection | null {
  // Once the run is over altogether, what comes late is recorded and expires.
  if (actsUntil !== null && now >= actsUntil && now < expiresAt) {
    const seconds = (ms: number) => Math.floor(ms / 1_000);
    const inputs = { which: 'wallClock', used: seconds(now - openedAt), limit: seconds(actsUntil - openedAt) };
    return objection(`The time of this run for calls is over (${inputs.limit} s)`, inputs);
  }
  for (const { budget, holding, title } of kinds) {
    const limit = budgets[budget];
    if (limit === null || takes[holding] === 0 || used[holding] + takes[holding] <= limit) continue;
    const unit = holding === 'cost' ? 1_000_000 : 1;
    const inputs = { which: title === 'cost' ? 'cost' : budget, used: used[holding] / unit, limit: limit / unit };
    const asks = holding === 'cost' ? `, and ${tool.name} costs ${takes.cost / unit} here` : '';
    return objection(
      `The budget of this run for ${title} is used up: ${inputs.used} of ${inputs.limit}${asks}`,
      inputs,
    );
  }
  return null;
}

function objection(what: string, inputs: Objection['inputs']): Objection {
  return {
    kind: 'deny',
    code: 'budget_exhausted',
    rule: 'budget',
    message: `${what}. Nothing was sent. Do not try again; results can still be read, so finish with what there is.`,
    inputs,
    remedy:
      inputs['which'] === 'wallClock' || inputs['which'] === 'calls'
        ? 'a run with a larger budget, which only the agent runtime can open'
        : 'that something which is under way turns out not to have happened, or a run with a larger budget, which only the agent runtime can open',
  };
}
