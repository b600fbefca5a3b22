/**
 * Most that a run may do; null: no limit. An intent counts from when it is admitted until it is certain that nothing of
 * it happened, and for each request that was sent.
 */
export interface Budgets {
  /** Requests to upstreams, repeated ones counted each time. */
  readonly calls: number | null;
  /** Intents of tools that write or destroy. */
  readonly mutating: number | null;
  /** Of these, those that destroy. */
  readonly destructive: number | null;
  /** Sum of what the tools say their calls cost, in millionths of a unit. */
  readonly costMicros: number | null;
  /** How long it may go on proposing, from its opening, in ms. */
  readonly wallClockMs: number | null;
}

export const noBudgets: Budgets = {
  calls: null,
  mutating: null,
  destructive: null,
  costMicros: null,
  wallClockMs: null,
};

/** The largest limit, as a count and as a cost in units: the database and a double hold it exactly, in millionths too. */
export const largestBudget = 1_000_000_000;

/** A limit on how many. */
export function isBudgetCount(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= largestBudget;
}

/** Millionths of a cost in units; null where it is none: negative, too large, or finer than a millionth. */
export function microsOf(cost: unknown): number | null {
  if (typeof cost !== 'number' || !(cost >= 0 && cost <= largestBudget)) return null;
  const micros = Math.round(cost * 1_000_000);
  return micros / 1_000_000 === cost ? micros : null;
}
