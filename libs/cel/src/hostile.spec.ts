import { describe, expect, test } from 'vitest';
import { Bindings, compile } from './index.js';

const hundredThousand = Array.from({ length: 100_000 }, (_, n) => n);
const fiftyThousand = hundredThousand.slice(0, 50_000);
const tenThousand = hundredThousand.slice(0, 10_000);
const thousand = hundredThousand.slice(0, 1000);
const few = hundredThousand.slice(0, 100);
const text = 'a'.repeat(256 * 1024);
const fields = (count: number) => Object.fromEntries(hundredThousand.slice(0, count).map((n) => [`key${n}`, 1]));
const wide = fields(100_000);
const needle = `${'a'.repeat(32_768)}b${'a'.repeat(32_768)}`;
const tooMuch = 'takes too much work: long lists in loops, long texts, or large patterns';

/** Milliseconds; generous for a machine that does something else as well. Without a bound these take seconds to years. */
const longest = 500;

function run(expression: string, args: unknown): unknown {
  const compiled = compile(expression, { args: null });
  const bindings = new Bindings({ args });
  compiled.evaluate(bindings);
  const start = performance.now();
  const result = compiled.evaluate(bindings);
  expect(performance.now() - start).toBeLessThan(longest);
  return result.ok ? result.value : result.error;
}

describe('too much work ends with an error in bounded time:', () => {
  test.each<[string, string, object]>([
    ['loops in loops', 'args.l.exists(x, args.l.exists(y, x + y == -1))', { l: hundredThousand }],
    ['three of them', 'args.l.all(x, args.l.all(y, args.l.all(z, x + y + z >= 0)))', { l: few }],
    ['twenty of them', `${'args.l.all(x, '.repeat(20)}true${')'.repeat(20)}`, { l: [1, 2, 3, 4, 5] }],
    ['loops without a body', 'args.l.all(x, args.l.all(y, args.l.all(z, true)))', { l: few.concat(few) }],
    ['a loop that swallows errors', 'args.l.exists(x, args.l.exists(y, x / 0 == y)) || true', { l: hundredThousand }],
    ['looking for each in a list', 'args.l.all(x, x in args.l)', { l: hundredThousand }],
    [
      'comparing what loops have made',
      'args.l.map(x, args.l.map(y, args.l)) == args.l.map(x, args.l.map(y, args.l))',
      { l: few },
    ],
    ['adding lists', 'args.l.map(x, args.l + args.l)', { l: thousand }],
    ['adding texts', 'args.l.all(x, args.s + args.s != args.s + "a")', { s: text, l: thousand }],
    ['counting characters', 'args.l.all(x, size(args.s) > 1)', { s: text, l: thousand }],
    ['a search that backs up', 'args.s.contains(args.t)', { s: text, t: needle }],
    ['a long text under a pattern', 'args.s.matches("^(a|b|c)+$")', { s: text }],
    ['a pattern of many states', 'args.s.matches("(a|b)*a(a|b){20}$")', { s: 'ab'.repeat(20_000) }],
    ['comparing objects under an ||', 'args.m == args.k || true', { m: fields(35_000), k: fields(35_000) }],
    ['keys that are no text', 'args.l.all(x, args.m[x] == 1 || true)', { m: wide, l: thousand }],
    ['a result of many parts', 'args.l.map(x, args.l)', { l: hundredThousand.slice(0, 2000) }],
  ])('%s', (_, expression, args) => {
    expect(run(expression, args)).toBe(tooMuch);
  });
});

describe('what is large is no error in itself:', () => {
  test.each<[string, string, object, unknown]>([
    ['a loop over a long list', 'args.l.all(x, x >= 0)', { l: tenThousand }, true],
    ['a sum of it', 'sum(args.l)', { l: fiftyThousand }, 1_249_975_000],
    ['a list made of a list', 'size(args.l.map(x, x))', { l: tenThousand }, 10_000],
    ['looking in a long list', '-1 in args.l', { l: fiftyThousand }, false],
    ['comparing long lists', 'args.l == args.k', { l: fiftyThousand, k: [...fiftyThousand] }, true],
    ['a long text', 'size(args.s)', { s: text }, 256 * 1024],
    ['a search in it', 'args.s.contains("b")', { s: text }, false],
    ['an object of many fields', 'args.l.all(x, has(args.m.key1) && size(args.m) > 1)', { m: wide, l: thousand }, true],
    [
      'a pattern that backtracking would never finish',
      'args.s.matches("^(a+)+$")',
      { s: `${'a'.repeat(20_000)}!` },
      false,
    ],
  ])('%s', (_, expression, args, value) => {
    expect(run(expression, args)).toEqual(value);
  });
});

describe('data nested a hundred thousand deep', () => {
  const list = nested((inner) => [inner]);
  const map = nested((inner) => ({ a: inner }));

  test.each([
    ['args.d == args.e', list],
    ['args.d == args.e', map],
    ['args.d', map],
    ['args.d in [args.e]', map],
  ])('makes %s an error, and nothing worse', (expression, d) => {
    expect(run(expression, { d, e: structuredCloneOf(d) })).toMatch(/call stack/);
  });

  function nested(around: (inner: unknown) => unknown): unknown {
    let value: unknown = 1;
    for (let depth = 0; depth < 100_000; depth += 1) value = around(value);
    return value;
  }

  /** Another value as deep as the first, without the recursion of a real clone. */
  function structuredCloneOf(value: unknown): unknown {
    return Array.isArray(value) ? nested((inner) => [inner]) : nested((inner) => ({ a: inner }));
  }
});

test('an evaluation that took too much leaves the next one its full measure', () => {
  const greedy = compile('args.l.all(x, args.l.all(y, true))', { args: null });
  const modest = compile('size(args.l) == 100000', { args: null });
  const bindings = new Bindings({ args: { l: hundredThousand } });
  expect(greedy.evaluate(bindings)).toEqual({ ok: false, error: tooMuch });
  expect(modest.evaluate(bindings)).toEqual({ ok: true, value: true });
});

test('a loop goes on after errors, which are cheap and leave stacks elsewhere as they are', () => {
  const before = Error.stackTraceLimit;
  expect(run('args.l.exists(x, args.l.matches("a"))', { l: tenThousand.slice(0, 9000) })).toContain(
    'no matching overload',
  );
  expect(Error.stackTraceLimit).toBe(before);
});

test('what is not JSON is an error', () => {
  const expression = compile('args.x == 1', { args: null });
  for (const x of [undefined, () => 1, 1n, Symbol('x')]) {
    expect(expression.evaluate({ args: { x } })).toMatchObject({ ok: false });
  }
  expect(expression.evaluate({})).toMatchObject({ ok: false });
});
