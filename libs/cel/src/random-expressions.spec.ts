import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Bindings, CelError, compile } from './index.js';

const numbers = Array.from({ length: 30_000 }, (_, n) => n);
const args = {
  ...{ list: numbers, text: 'ab'.repeat(60_000), short: 'a'.repeat(400), n: 5, broken: 1.5, yes: true, none: null },
  map: Object.fromEntries(numbers.slice(0, 10_000).map((n) => [`key${n}`, n])),
  lists: numbers.slice(0, 300).map((n) => [n, [n]]),
  maps: numbers.slice(0, 3000).map((n) => ({ a: n, s: 'x'.repeat(20) })),
  texts: numbers.slice(0, 2000).map((n) => `s${n}`.repeat(10)),
};

const values = fc.constantFrom(
  'args',
  ...Object.keys(args).map((name) => `args.${name}`),
  'x',
  'y',
  'x.a',
  '1',
  '"ab"',
  '[]',
  '{}',
);
const operators = fc.constantFrom('+', '-', '*', '/', '%', '==', '!=', '<', 'in', '&&', '||');
const patterns = fc.constantFrom('^[a-z]+$', '(a|b)*a(a|b){20}$', 'a+b');
const { expression } = fc.letrec<{ expression: string }>((tie) => {
  const inner = tie('expression');
  return {
    expression: fc.oneof(
      { depthSize: 'medium', maxDepth: 6 },
      values,
      fc.tuple(inner, operators, inner).map(([a, operator, b]) => `(${a} ${operator} ${b})`),
      fc
        .tuple(inner, fc.constantFrom('contains', 'startsWith', 'endsWith'), inner)
        .map(([a, name, b]) => `(${a}).${name}(${b})`),
      fc
        .tuple(fc.constantFrom('size', 'sum', 'string', 'int', 'double', '!', '-'), inner)
        .map(([name, a]) => `${name}(${a})`),
      fc.tuple(inner, patterns).map(([a, pattern]) => `(${a}).matches("${pattern}")`),
      fc
        .tuple(
          fc.oneof(values, inner),
          fc.constantFrom('all', 'exists', 'exists_one', 'map', 'filter'),
          fc.constantFrom('x', 'y'),
          inner,
        )
        .map(([list, loop, name, body]) => `(${list}).${loop}(${name}, ${body})`),
      fc.tuple(inner, inner).map(([a, key]) => `(${a})[${key}]`),
      fc.tuple(inner, inner, inner).map(([a, b, c]) => `(${a} ? ${b} : ${c})`),
      fc.tuple(inner, inner).map(([a, b]) => `{"key": ${a}, 1: [${b}]}`),
    ),
  };
});

/** Milliseconds: 99.9 % take less than 50 (measured); others use the machine, too. Without a bound it is minutes. */
const longest = 1000;

test('no expression throws or takes long, whatever it is and whatever it is given', () => {
  const bindings = new Bindings({ args });
  fc.assert(
    fc.property(expression, (text) => {
      const compiled = compiledFrom(`[1].map(x, [2].map(y, ${text}))`);
      const start = performance.now();
      const result = compiled?.evaluate(bindings);
      expect(performance.now() - start).toBeLessThan(longest);
      if (result?.ok) expect(() => JSON.stringify(result.value)).not.toThrow();
    }),
    { numRuns: 500 },
  );
});

/** Null: it was refused. */
function compiledFrom(text: string): ReturnType<typeof compile> | null {
  try {
    return compile(text, { args: null });
  } catch (error) {
    if (error instanceof CelError) return null;
    throw error;
  }
}
