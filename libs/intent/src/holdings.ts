import type { Proposal } from './events.js';
import { type Intent, isTerminal, outcomeOf } from './state.js';

/** What an intent takes of the budgets of its run. */
export interface Holdings {
  /** Requests that went out, or the one that may. */
  readonly calls: number;
  /** 1 while it has changed something, or may; 0 for reads, and once it is certain that nothing happened. */
  readonly mutating: number;
  readonly destructive: number;
  /** Millionths of a unit. */
  readonly cost: number;
}

export const noHoldings: Holdings = { calls: 0, mutating: 0, destructive: 0, cost: 0 };

/**
 * Follows from the state alone, so that nothing can be given back twice or forgotten: reserved when it is admitted, kept
 * while its outcome is unknown, given back once it is certain that nothing happened. What was sent stays counted. A call
 * of the sandbox changes and costs nothing.
 */
export function holdingsOf(intent: Intent): Holdings {
  const sent = intent.attempts.filter((attempt) => attempt.sent).length;
  const calls = isTerminal(intent) ? sent : Math.max(1, sent);
  if (!isHeld(intent)) return { calls, mutating: 0, destructive: 0, cost: 0 };
  return { ...takenBy(intent.proposal), calls };
}

/** What it takes from when it is admitted. */
export function takenBy({ terms, sandbox, cost = 0 }: Pick<Proposal, 'terms' | 'sandbox' | 'cost'>): Holdings {
  if (sandbox) return { calls: 1, mutating: 0, destructive: 0, cost: 0 };
  return {
    calls: 1,
    mutating: terms.effect === 'read' ? 0 : 1,
    destructive: terms.effect === 'destructive' ? 1 : 0,
    cost,
  };
}

/** What `after` takes beyond `before`, and nothing where it takes less. */
export function furtherHoldings(before: Holdings, after: Holdings): Holdings {
  const further = (name: keyof Holdings) => Math.max(0, after[name] - before[name]);
  return {
    calls: further('calls'),
    mutating: further('mutating'),
    destructive: further('destructive'),
    cost: further('cost'),
  };
}

/** Of several intents together. */
export function sumOfHoldings(a: Holdings, b: Holdings): Holdings {
  return {
    calls: a.calls + b.calls,
    mutating: a.mutating + b.mutating,
    destructive: a.destructive + b.destructive,
    cost: a.cost + b.cost,
  };
}

/** It has happened, or may have, or still may. */
export function isHeld(intent: Intent): boolean {
  return outcomeOf(intent) !== 'not_executed';
}
