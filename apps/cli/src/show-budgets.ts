import type { EffectiveBudgets } from '@intendant/contracts';

/** One line of what a run may do at most. */
export function showBudgets({ calls, mutating, destructive, cost, wallClockSeconds }: EffectiveBudgets): string {
  const limits = { calls, mutating, destructive, cost };
  const parts = Object.entries(limits).map(([name, limit]) => `${name} ${limit ?? 'without limit'}`);
  const time = wallClockSeconds === null ? 'as long as it lives' : `for ${wallClockSeconds} s`;
  return [...parts, time].join(', ');
}
