import { Refusal } from '@intendant/contracts';
import { describe, expect, test } from 'vitest';
import { type Ceiling, defaultCeiling } from './ceiling.js';
import { readOpening } from './read-opening.js';
import { type CheckRestriction, shownBudgets, termsOf } from './run-terms.js';

const good = { user: 'ada', permissions: ['payments:refund', 'mail:*'], profile: 'interactive' };
const sound: CheckRestriction = () => null;
const hour = 3_600_000;
const unlimited: Ceiling = {
  ...{ calls: null, mutating: null, destructive: null, costMicros: null, wallClockMs: null, permissions: null },
};
const terms = (over: object, ceiling: Ceiling = unlimited, check = sound) =>
  termsOf(readOpening({ ...good, ...over }), ceiling, check);
function refusal(over: object, ceiling: Ceiling = defaultCeiling, check = sound) {
  try {
    terms(over, ceiling, check);
  } catch (error) {
    expect(error).toBeInstanceOf(Refusal);
    expect((error as Refusal).error).toMatchObject({ code: 'invalid_arguments', nextAction: 'fix_arguments' });
    const { message, details } = (error as Refusal).error;
    return { message, problems: details['problems'] as { pointer: string; expected: string; got: string }[] };
  }
  throw new Error('it was granted');
}

describe('whoever says nothing', () => {
  test('gets what somebody who waits needs: 20 calls in two minutes, one of them destructive', () => {
    expect(terms({})).toEqual({
      ttlMs: hour,
      budgets: { calls: 20, mutating: null, destructive: 1, costMicros: null, wallClockMs: 120_000 },
    });
  });

  test('gets 100 calls in an hour for a batch, one of them destructive', () => {
    expect(terms({ profile: 'batch' })).toEqual({
      ttlMs: 12 * hour,
      budgets: { calls: 100, mutating: null, destructive: 1, costMicros: null, wallClockMs: hour },
    });
  });

  test('gets no more than the key may give', () => {
    const low = { ...unlimited, calls: 3, mutating: 2, destructive: 0, costMicros: 5_000_000, wallClockMs: 60_000 };
    const { permissions: _, ...most } = low;
    expect(terms({}, low).budgets).toEqual(most);
    expect(terms({}, defaultCeiling).budgets).toMatchObject({ calls: 20, mutating: 1_000, costMicros: null });
  });

  test('gets no longer to act than the ttl that was asked for', () => {
    expect(terms({ ttl: '30s' })).toMatchObject({ ttlMs: 30_000, budgets: { wallClockMs: 30_000 } });
    expect(terms({ ttl: '2h' })).toMatchObject({ ttlMs: 2 * hour, budgets: { wallClockMs: 120_000 } });
  });
});

describe('whoever asks', () => {
  test('gets it, each limit for itself, less or more than the profile has', () => {
    const budgets = { calls: 1_000, destructive: 0, cost: 2.5, wallClock: '30m' };
    expect(terms({ budgets }, defaultCeiling)).toEqual({
      ttlMs: hour,
      budgets: { calls: 1_000, mutating: 1_000, destructive: 0, costMicros: 2_500_000, wallClockMs: 1_800_000 },
    });
    expect(terms({ budgets: { calls: 0 } }).budgets).toMatchObject({ calls: 0, destructive: 1 });
  });

  test('for more than the key may give is told what, how much and the ceiling of every limit; nothing is cut', () => {
    const budgets = { calls: 1_001, mutating: 1_001, destructive: 101, cost: 3, wallClock: '2h' };
    const ceiling = { ...defaultCeiling, costMicros: 2_500_000, wallClockMs: hour };
    const { message, problems } = refusal({ budgets }, ceiling);
    expect(message).toBe(
      '/budgets/calls: expected at most 1000, the ceiling of this key; asked for was 1001 (and 4 more). No run was opened.',
    );
    expect(problems).toEqual([
      { pointer: '/budgets/calls', expected: 'at most 1000, the ceiling of this key', got: '1001' },
      { pointer: '/budgets/mutating', expected: 'at most 1000, the ceiling of this key', got: '1001' },
      { pointer: '/budgets/destructive', expected: 'at most 100, the ceiling of this key', got: '101' },
      { pointer: '/budgets/cost', expected: 'at most 2.5, the ceiling of this key', got: '3' },
      { pointer: '/budgets/wallClock', expected: 'at most 3600 s, the ceiling of this key', got: '7200 s' },
    ]);
  });

  test('for a permission beyond those that the key may give is told which', () => {
    const ceiling = { ...unlimited, permissions: ['payments:*', 'mail:send'] };
    expect(terms({ permissions: ['payments:refund', 'mail:send'] }, ceiling).ttlMs).toBe(hour);
    expect(refusal({}, ceiling).problems).toEqual([
      { pointer: '/permissions/1', expected: 'within what this key may give: payments:*, mail:send', got: '"mail:*"' },
    ]);
    expect(refusal({ permissions: ['*'] }, { ...unlimited, permissions: [] }).problems).toHaveLength(1);
  });

  test('for longer to act than the ttl allows, having said both, is told that they contradict', () => {
    expect(refusal({ ttl: '1h', budgets: { wallClock: '2h' } }).problems).toEqual([
      { pointer: '/budgets/wallClock', expected: 'at most the ttl, 3600 s', got: '7200 s' },
    ]);
    expect(terms({ ttl: '1h', budgets: { wallClock: '1h' } }).budgets.wallClockMs).toBe(hour);
  });

  test('for longer to act than runs live by default, and for no ttl, gets a token that lives as long', () => {
    expect(terms({ budgets: { wallClock: '3h' } })).toMatchObject({
      ttlMs: 3 * hour,
      budgets: { wallClockMs: 3 * hour },
    });
  });

  test('for a restriction that cannot be used is told which one', () => {
    const restrict = [
      { tools: ['mail.send'], allow: 'true', message: 'Anything.' },
      { tools: ['mail.send'], allow: 'args.', message: 'Nothing.' },
    ];
    const check: CheckRestriction = ({ allow }) =>
      allow === 'true' ? null : { field: 'allow', expected: 'CEL that can be used here (it ends too early)' };
    expect(refusal({ restrict }, defaultCeiling, check)).toEqual({
      message:
        '/restrict/1/allow: expected CEL that can be used here (it ends too early); asked for was "args.". No run was opened.',
      problems: [expect.objectContaining({ pointer: '/restrict/1/allow' })],
    });
  });
});

test('limits are told in units and seconds', () => {
  const budgets = { calls: 5, mutating: null, destructive: 0, costMicros: 2_500_001, wallClockMs: 90_000 };
  const counts = { calls: 5, mutating: null, destructive: 0 };
  expect(shownBudgets(budgets)).toEqual({ ...counts, cost: 2.500001, wallClockSeconds: 90 });
  expect(shownBudgets({ ...budgets, costMicros: null, wallClockMs: null })).toEqual({
    ...{ ...counts, cost: null, wallClockSeconds: null },
  });
});
