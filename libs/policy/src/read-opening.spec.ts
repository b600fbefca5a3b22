import { Refusal } from '@intendant/contracts';
import { describe, expect, test } from 'vitest';
import { readOpening } from './read-opening.js';

const good = { user: 'ada', permissions: ['payments:*'], profile: 'interactive' };
const restriction = { tools: ['payments.*', 'mail.send'], allow: 'args.amount < 100', message: 'Below 100.' };

function refusal(message: unknown) {
  try {
    readOpening(message);
  } catch (error) {
    expect(error).toBeInstanceOf(Refusal);
    const { code, message: text, details } = (error as Refusal).error;
    return { code, text, problems: details['problems'] as { pointer: string; expected: string; got: string }[] };
  }
  throw new Error('it was read');
}

test('what is left out, and what is null, is not said', () => {
  const nothing = { calls: null, mutating: null, destructive: null, costMicros: null, wallClockMs: null };
  const read = { ...good, phase: null, sandbox: false, ttlMs: null, budgets: nothing, restrictions: [] };
  expect(readOpening(good)).toEqual(read);
  const nulls = { phase: null, ttl: null, sandbox: null, budgets: null, restrict: null };
  expect(readOpening({ ...good, ...nulls })).toEqual(read);
  expect(readOpening({ ...good, budgets: { calls: null, cost: null, wallClock: null } })).toEqual(read);
});

test('all that can be said is read, zero among it, cost in millionths and time in ms', () => {
  const budgets = { calls: 5, mutating: 0, destructive: 0, cost: 12.000001, wallClock: 'PT2M' };
  const message = { ...good, phase: 'resolve', ttl: '2h', sandbox: true, budgets, restrict: [restriction] };
  expect(readOpening(message)).toEqual({
    ...good,
    phase: 'resolve',
    sandbox: true,
    ttlMs: 7_200_000,
    budgets: { calls: 5, mutating: 0, destructive: 0, costMicros: 12_000_001, wallClockMs: 120_000 },
    restrictions: [restriction],
  });
});

describe('a limit', () => {
  const count = 'a whole number from 0 to 1000000000';
  const cost = 'a number from 0 to 1000000000 with at most 6 decimals';
  const duration = 'a duration such as PT30M, 2h or 3600 (seconds), at most 24h';
  test.each([
    ['calls', -1, '-1', count],
    ['calls', 1.5, '1.5', count],
    ['calls', 1e12, '1000000000000', count],
    ['calls', JSON.parse('1e400'), 'Infinity', count],
    ['calls', Number.NaN, 'NaN', count],
    ['calls', '5', '"5"', count],
    ['calls', 'NaN', '"NaN"', count],
    ['calls', true, 'true', count],
    ['mutating', [3], '[3]', count],
    ['destructive', {}, '{}', count],
    ['cost', -0.01, '-0.01', cost],
    ['cost', 0.0000001, '1e-7', cost],
    ['cost', 1e10, '10000000000', cost],
    ['cost', '1', '"1"', cost],
    ['cost', Number.POSITIVE_INFINITY, 'Infinity', cost],
    ['wallClock', 120, '120', duration],
    ['wallClock', '-5s', '"-5s"', duration],
    ['wallClock', '0s', '"0s"', duration],
    ['wallClock', '25h', '"25h"', duration],
    ['wallClock', 'soon', '"soon"', duration],
  ])('%s of %s is refused with where and what would be right', (name, value, got, expected) => {
    const { code, text, problems } = refusal({ ...good, budgets: { [name]: value } });
    expect(code).toBe('invalid_message');
    expect(problems).toEqual([{ pointer: `/budgets/${name}`, expected, got }]);
    expect(text).toBe(`/budgets/${name}: expected ${expected}, got ${got}. No run was opened.`);
  });

  test.each([0, 0.1, 0.000001, 19.99, 123_456.789, 999_999_999.999999, 1_000_000_000])('on cost may be %s', (value) => {
    const micros = readOpening({ ...good, budgets: { cost: value } }).budgets.costMicros;
    expect((micros ?? Number.NaN) / 1_000_000).toBe(value);
    expect(Number.isSafeInteger(micros)).toBe(true);
  });

  test('of another name is refused', () => {
    expect(refusal({ ...good, budgets: { call: 5 } }).problems).toMatchObject([
      { pointer: '/budgets/call', expected: 'no field of this name' },
    ]);
  });
});

test('everything that is wrong is told at once', () => {
  const message = {
    user: 'a\nb',
    permissions: ['ok', ''],
    profile: 'fast',
    phase: '',
    ttl: 'long',
    sandbox: 'no',
    tenant: 'umbrella',
    budgets: [],
    restrict: [{ tools: [], allow: '', message: 5, why: 1 }, 'x'],
  };
  const { text, problems } = refusal(message);
  expect(problems.map(({ pointer }) => pointer).sort()).toEqual([
    '/budgets',
    '/permissions',
    '/phase',
    '/profile',
    '/restrict/0/allow',
    '/restrict/0/message',
    '/restrict/0/tools',
    '/restrict/0/why',
    '/restrict/1',
    '/restrict/1/allow',
    '/restrict/1/message',
    '/restrict/1/tools',
    '/sandbox',
    '/tenant',
    '/ttl',
    '/user',
  ]);
  expect(text).toContain('(and 15 more)');
});

test.each([null, [], 'text', 5, undefined])('%j is no message', (message) => {
  expect(refusal(message).problems[0]).toMatchObject({ pointer: '', expected: expect.stringContaining('an object') });
});

test('members that every object has are not taken for given', () => {
  const message = Object.assign(Object.create({ user: 'eve', sandbox: true }), { ...good, user: undefined });
  expect(refusal(message).problems).toMatchObject([{ pointer: '/user', got: 'nothing' }]);
});

test('restrictions are limited in number and length, and name tools or namespaces', () => {
  const restrict = (over: object, count = 1) => ({
    ...good,
    restrict: Array.from({ length: count }, () => ({ ...restriction, ...over })),
  });
  expect(readOpening(restrict({ allow: 'x'.repeat(2_000) }, 32)).restrictions).toHaveLength(32);
  expect(refusal(restrict({}, 33)).problems).toMatchObject([{ pointer: '/restrict' }]);
  expect(refusal(restrict({ allow: 'x'.repeat(2_001) })).problems).toMatchObject([{ pointer: '/restrict/0/allow' }]);
  for (const tool of ['*', 'payments', 'payments*', 'Payments.x', 'a..b', '.*', 5]) {
    expect(refusal(restrict({ tools: [tool] })).problems, String(tool)).toMatchObject([
      { pointer: '/restrict/0/tools' },
    ]);
  }
});
