import { type Budgets, type EffectiveBudgets, Refusal, type Restriction, runLifetimes } from '@intendant/contracts';
import { type Ceiling, permissionWithin } from './ceiling.js';
import { type Problem, Problems } from './problems.js';
import type { Opening } from './read-opening.js';

const { interactiveMs, batchMs } = runLifetimes;

/** What a run gets whose opener says nothing. */
const profiles: Record<Opening['profile'], { readonly ttlMs: number; readonly budgets: Budgets }> = {
  interactive: {
    ttlMs: interactiveMs,
    budgets: { calls: 20, mutating: null, destructive: 1, costMicros: null, wallClockMs: 120_000 },
  },
  batch: {
    ttlMs: batchMs,
    budgets: { calls: 100, mutating: null, destructive: 1, costMicros: null, wallClockMs: 3_600_000 },
  },
};

export interface RunTerms {
  readonly ttlMs: number;
  readonly budgets: Budgets;
}

/** Which field of a restriction is wrong, and what would be right; null: none. */
export type CheckRestriction = (
  restriction: Restriction,
) => { readonly field: string; readonly expected: string } | null;

/**
 * What the run gets: what was asked for, else what its profile gives, as far as the ceiling and the ttl allow.
 *
 * @throws Refusal `invalid_arguments` naming everything that was asked for and is not to be had
 */
export function termsOf(opening: Opening, ceiling: Ceiling, checkRestriction: CheckRestriction): RunTerms {
  refuseExcess(opening, ceiling, checkRestriction);
  const standard = profiles[opening.profile];
  const wanted = opening.budgets;
  // Whoever asks for a longer time to act, and says nothing of the ttl, wants the token to live as long.
  const ttlMs = opening.ttlMs ?? Math.max(standard.ttlMs, wanted.wallClockMs ?? 0);
  const of = (name: keyof Budgets) => wanted[name] ?? least(standard.budgets[name], ceiling[name]);
  return {
    ttlMs,
    budgets: {
      calls: of('calls'),
      mutating: of('mutating'),
      destructive: of('destructive'),
      costMicros: of('costMicros'),
      wallClockMs: least(of('wallClockMs'), ttlMs),
    },
  };
}

function refuseExcess(opening: Opening, ceiling: Ceiling, checkRestriction: CheckRestriction): void {
  const problems = new Problems();
  const { permissions } = ceiling;
  for (const [at, wanted] of opening.permissions.entries()) {
    const within = permissions === null || permissionWithin(wanted, permissions);
    problems.check(`/permissions/${at}`, wanted, within, `within what this key may give: ${permissions?.join(', ')}`);
  }
  for (const [at, restriction] of opening.restrictions.entries()) {
    const wrong = checkRestriction(restriction);
    const pointer = `/restrict/${at}/${wrong?.field ?? ''}`;
    problems.check(pointer, restriction.allow, wrong === null, wrong?.expected ?? '');
  }
  const { calls, mutating, destructive, costMicros, wallClockMs } = opening.budgets;
  below(problems, 'calls', calls, ceiling.calls, String);
  below(problems, 'mutating', mutating, ceiling.mutating, String);
  below(problems, 'destructive', destructive, ceiling.destructive, String);
  below(problems, 'cost', costMicros, ceiling.costMicros, (micros) => String(micros / 1_000_000));
  below(problems, 'wallClock', wallClockMs, ceiling.wallClockMs, seconds);
  if (opening.ttlMs !== null && wallClockMs !== null) {
    const expected = `at most the ttl, ${seconds(opening.ttlMs)}`;
    check(problems, '/budgets/wallClock', seconds(wallClockMs), wallClockMs <= opening.ttlMs, expected);
  }
  if (problems.all.length > 0) throw refusal(problems.all);
}

/** Limits as they are told: cost in units, time in seconds. */
export function shownBudgets({ costMicros, wallClockMs, ...counts }: Budgets): EffectiveBudgets {
  return {
    ...counts,
    cost: costMicros === null ? null : costMicros / 1_000_000,
    wallClockSeconds: wallClockMs === null ? null : wallClockMs / 1_000,
  };
}

function below(
  problems: Problems,
  name: string,
  asked: number | null,
  most: number | null,
  text: (value: number) => string,
): void {
  if (asked === null || most === null) return;
  check(problems, `/budgets/${name}`, text(asked), asked <= most, `at most ${text(most)}, the ceiling of this key`);
}

/** As `Problems.check`, for what is shown in other words than it was sent. */
function check({ all }: Problems, pointer: string, got: string, fits: boolean, expected: string): void {
  if (!fits) all.push({ pointer, expected, got });
}

function seconds(ms: number): string {
  return `${ms / 1_000} s`;
}

/** Null is no limit. */
function least(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other;
  return Math.min(one, other);
}

function refusal(problems: readonly Problem[]): Refusal {
  const [first] = problems;
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  return new Refusal(
    'invalid_arguments',
    `${first?.pointer}: expected ${first?.expected}; asked for was ${first?.got}${more}. No run was opened.`,
    { problems: problems.map((problem) => ({ ...problem })) },
  );
}
