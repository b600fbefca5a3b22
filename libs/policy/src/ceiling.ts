import { type Budgets, runLifetimes } from '@intendant/contracts';

/** The most that a service key may give to a run; null: as much as it wants. */
export interface Ceiling extends Budgets {
  /** Permissions, or as `payments:*` all that begin with what is before the star. */
  readonly permissions: readonly string[] | null;
}

/** Of a key that nothing else is said about. */
export const defaultCeiling: Ceiling = {
  calls: 1_000,
  mutating: 1_000,
  destructive: 100,
  costMicros: null,
  wallClockMs: runLifetimes.longestMs,
  permissions: null,
};

/** Whether whoever has `wanted` has nothing beyond `most`; both as in {@link Ceiling.permissions}. */
export function permissionWithin(wanted: string, most: readonly string[]): boolean {
  const prefix = wanted.endsWith('*') ? wanted.slice(0, -1) : null;
  return most.some((pattern) =>
    pattern.endsWith('*') ? (prefix ?? wanted).startsWith(pattern.slice(0, -1)) : prefix === null && wanted === pattern,
  );
}
