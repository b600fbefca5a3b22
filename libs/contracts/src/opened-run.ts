import { runLifetimes } from './lifetimes.js';

/** How much the opener of a run may say. */
export const openRunLimits = {
  userLength: 200,
  permissions: 256,
  permissionLength: 200,
  phaseLength: 100,
  longestMs: runLifetimes.longestMs,
  restrictions: 32,
  toolsOfRestriction: 64,
  allowLength: 2_000,
  messageLength: 500,
} as const;

/** What a restriction is about: a tool, or a namespace as `payments.*`. */
export const restrictedToolPattern = /^[a-z][a-z0-9_]*(?:(?:\.[a-z][a-z0-9_]*)*\.\*|(?:\.[a-z][a-z0-9_]*)+)$/;

/** What would be right, in the words that callers are told. */
export const expectedOfBudget = {
  count: 'a whole number from 0 to 1000000000',
  cost: 'a number from 0 to 1000000000 with at most 6 decimals',
} as const;

/** Limits of a run as whoever opened it is told them; null: no limit. */
export interface EffectiveBudgets {
  readonly calls: number | null;
  readonly mutating: number | null;
  readonly destructive: number | null;
  /** In units. */
  readonly cost: number | null;
  readonly wallClockSeconds: number | null;
}

/** The answer to whoever opened a run. */
export interface OpenedRun {
  readonly runId: string;
  /** Credential of the agent. */
  readonly token: string;
  /** ISO 8601. */
  readonly expiresAt: string;
  readonly budgets: EffectiveBudgets;
}
