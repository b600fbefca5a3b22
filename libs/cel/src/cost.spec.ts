import { expect, test } from 'vitest';
import { compile, costOf, costVariables, largestCost } from './index.js';

function cost(text: string, args: object = {}): unknown {
  const result = costOf(compile(text, costVariables(null)), { args });
  return result.ok ? result.micros : result.error;
}

test.each([
  ['args.cents / 100.0', { cents: 2499 }, 24_990_000],
  ['args.cents / 100', { cents: 2499 }, 24_000_000],
  ['sum(args.lines.map(line, line.price))', { lines: [{ price: 0.1 }, { price: 0.2 }] }, 300_000],
  ['1 / 3.0', {}, 333_334],
  ['0.0000001', {}, 1],
  ['0', {}, 0],
  ['-0.0', {}, 0],
  ['args.n', { n: largestCost }, 9_000_000_000_000_000],
])('%s of %j is rounded up to a millionth', (text, args, micros) => {
  expect(cost(text, args)).toBe(micros);
});

test.each([
  ['-0.01', {}, 'the cost is -0.01; must be from 0 to 9000000000'],
  ['args.n', { n: largestCost + 1 }, 'the cost is 9000000001; must be from 0 to 9000000000'],
  ['1.0 / 0.0', {}, 'the cost is Infinity; must be from 0 to 9000000000'],
  ['0.0 / 0.0', {}, 'the cost is NaN; must be from 0 to 9000000000'],
  ['args.n', { n: '5' }, 'the cost is not a number'],
  ['args.n', {}, 'field not found: n'],
])('%s of %j is no cost', (text, args, error) => {
  expect(cost(text, args)).toBe(error);
});
