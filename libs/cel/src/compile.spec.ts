import { describe, expect, test } from 'vitest';
import { CelError, compile, Double, longestExpression, mostParts } from './index.js';

const variables = { args: null, session: ['tenant', 'profile'] };
const session = { tenant: 'acme', profile: 'interactive' };

function evaluate(text: string, args: unknown = {}): unknown {
  const result = compile(text, variables).evaluate({ args, session });
  return result.ok ? result.value : `error: ${result.error}`;
}

/** The mistake as `line:column message`. */
function mistake(text: string): string {
  try {
    compile(text, variables);
    return 'compiles';
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    return `${error.line}:${error.column} ${error.message}`;
  }
}

describe('numbers of JSON', () => {
  test.each([
    ['args.n <= 20000', 20_000, true],
    ['args.n <= 20.5', 20, true],
    ['args.n <= 20', 20.5, false],
    ['args.n == 20.0', 20, true],
    ['args.n * 1.5', 20, 30],
    ['args.n * 2', 20.25, 40.5],
    ['args.n / 100', 2499, 24],
    ['args.n / 100.0', 2499, 24.99],
    ['args.n % 2', 5, 1],
    ['-args.n', 5, -5],
    ['args.n > 1', 1e300, true],
    ['type(args.n) == int', 2 ** 53 - 1, true],
    ['type(args.n) == double', 2 ** 53, true],
    ['double("1.5e3") + double(args.n)', 1, 1501],
    ['int("-12") + args.n', 2, -10],
    ['sum([args.n, 2])', 1, 3],
    ['sum([args.n, 2])', 1.5, 3.5],
    ['sum([])', 1, 0],
  ])('%s where n is %d', (text, n, value) => {
    expect(evaluate(text, { n })).toEqual(value);
  });

  test.each([
    ['args.n + 9007199254740991', 'error: the result is an integer beyond 2^53'],
    ['args.n + 9223372036854775807', expect.stringContaining('error: int overflow')],
    ['sum([9223372036854775807, args.n])', 'error: int overflow in sum'],
    ['args.n / 0', 'error: int divide by zero'],
    ['sum(["1"])', 'error: sum takes a list of numbers'],
    ['int("")', 'error: the text is not an integer'],
    ['int("0x10")', 'error: the text is not an integer'],
    ['double("")', 'error: the text is not a number'],
    ['args.n > "1"', expect.stringContaining('error: found no matching overload')],
  ])('%s is an error', (text, error) => {
    expect(evaluate(text, { n: 1 })).toEqual(error);
  });
});

test('a number can be made a double although it is whole', () => {
  const { evaluate: run } = compile('cost / 2', { cost: null });
  expect(run({ cost: 5 })).toEqual({ ok: true, value: 2 });
  expect(run({ cost: new Double(5) })).toEqual({ ok: true, value: 2.5 });
});

describe('fields', () => {
  test('that are missing are errors, and has() asks for them', () => {
    expect(evaluate('args.a')).toBe('error: field not found: a');
    expect(evaluate('args.a.b == 1')).toBe('error: field not found: a');
    expect(evaluate('has(args.a)')).toBe(false);
    expect(evaluate('has(args.a) && args.a > 1', { a: 2 })).toBe(true);
  });

  test('that are null are there', () => {
    expect(evaluate('has(args.a)', { a: null })).toBe(true);
    expect(evaluate("'a' in args", { a: null })).toBe(true);
    expect(evaluate('args.a == null', { a: null })).toBe(true);
  });

  test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
    '%s is not there unless JSON has it',
    (name) => {
      expect(evaluate(`has(args.${name})`)).toBe(false);
      expect(evaluate(`args["${name}"]`)).toBe(`error: field not found: ${name}`);
      expect(evaluate(`args["${name}"].x`, JSON.parse(`{"${name}":{"x":1}}`))).toBe(1);
      expect(mistake(`${name}.x`)).toContain(`1:1 ${name} is not known here`);
    },
  );

  test('and results come out as JSON went in', () => {
    const args = JSON.parse('{"__proto__":{"x":1},"list":[1,2.5,"é",null,{"a":[]}]}');
    expect(JSON.stringify(evaluate('args', args))).toBe(JSON.stringify(args));
  });
});

describe('lists and maps', () => {
  test.each([
    ['args.l.map(x, x * 2)', [2, 4, 6]],
    ['args.l.filter(x, x > 1)', [2, 3]],
    ['args.l.map(x, x > 1, [x])', [[2], [3]]],
    ['args.l.map(x, args.l.filter(y, y < x))', [[], [1], [1, 2]]],
    ['[[0]].map(x, x + [1])', [[0, 1]]],
    ['args.l.all(x, x > 0) && args.l.exists(x, x == 3) && args.l.exists_one(x, x == 2)', true],
    ['args.l.exists(args, args == 3)', true],
    ['2 in args.l && !(4 in args.l)', true],
    ['[1] in [[1.0]]', true],
    ['args.m.all(key, args.m[key] >= 1)', true],
    ['{"a": 1, "b": [2]} == args.m', true],
    ['1 in {1: 2}', true],
    ['sum(args.l.map(x, x))', 6],
    ['size(args.l) + size(args.m) + args.l.size() + size("é😀")', 10],
  ])('%s', (text, value) => {
    expect(evaluate(text, { l: [1, 2, 3], m: { a: 1, b: [2] } })).toEqual(
      text.includes('key') ? "error: found no matching overload for '_>=_' applied to '(list, int)'" : value,
    );
  });

  test('a pattern is found anywhere in the text, as RE2 finds it', () => {
    expect(evaluate('args.s.matches("^ord_[0-9]+$")', { s: 'ord_1' })).toBe(true);
    expect(evaluate('args.s.matches("[0-9]")', { s: 'ord_1' })).toBe(true);
    expect(evaluate('args.s.matches("(?i)^ORD$")', { s: 'ord_1' })).toBe(false);
  });
});

describe('a mistake is found before anything runs, with its place', () => {
  test.each([
    ['args.x <=\n  && 3', '1:8 found < but expecting end of input'],
    ['args.x\n && bar.y', '2:5 bar is not known here; known here: args, session'],
    ['session.tenat', '1:8 session.tenat is not known here; did you mean session.tenant?'],
    ['args.l.exists(x, y)', '1:18 y is not known here; known here: args, session'],
    ['args.x.containz("a")', '1:7 containz is not a function here; did you mean contains?'],
    [
      'timestamp("2026-01-01T00:00:00Z") == 1',
      expect.stringMatching(/^1:1 timestamp is not a function here; known here: size, contains, /),
    ],
    ['contains("a", "b")', '1:1 contains must be written text.contains(…)'],
    ['size(args, 1)', '1:1 size takes 1 arguments, not 2'],
    ['has(args)', expect.stringMatching(/^1:/)],
    ['args.s.matches(args.p)', '1:20 a pattern must be written as a text, not computed'],
    ['args.s.matches("(a")', '1:16 the pattern missing closing ): `(a`'],
    ['args.s.matches("(?=a)")', '1:16 the pattern invalid or unsupported Perl syntax: `(?=`'],
    ['args.s.matches("a{500}")', '1:16 the pattern is too large; must have fewer parts and repetitions'],
    ['google.protobuf.Struct{}', '1:1 there are no messages such as google.protobuf.Struct here'],
    ['b"x" == args.x', '1:1 bytes and unsigned numbers are not supported; write a text or a number'],
    ['1u == args.x', '1:1 bytes and unsigned numbers are not supported; write a text or a number'],
    [' ', 'null:null is empty; must be a CEL expression'],
  ])('%s', (text, message) => {
    expect(mistake(text)).toEqual(message);
  });
});

test.each([
  ['of many characters', 'a'.repeat(longestExpression + 1), 'null:null is longer than 4096 characters'],
  ['of many parts', `[${Array(mostParts).fill('1').join(',')}]`, '1:1 has over 1000 parts'],
  ['of many operands', Array(500).fill('1').join('+'), '1:998 is nested over 100 deep'],
  ['of many brackets', '('.repeat(2000), 'null:null is nested too deep'],
  ['of many unfinished ones', '[{1:('.repeat(100), expect.stringMatching(/^1:501 found end of input/)],
])('an expression %s is refused', (_, text, message) => {
  expect(mistake(text)).toEqual(message);
});

test('what an expression reads is known from its parts, not from its text', () => {
  const { reads } = compile(
    'args.a["b"].c > 1 && "session.profile" != args.l.map(x, x.y)[0] && size(args) > 0',
    variables,
  );
  expect(reads.map((path) => path.join('.'))).toEqual(['args.a.b.c', 'args.l', 'args']);
});
