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
