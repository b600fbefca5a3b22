import { expect, test } from 'vitest';
import { quantile, spread } from './statistics.js';

test('a quantile is a value that was measured', () => {
  const hundred = Array.from({ length: 100 }, (_, i) => i + 1);
  expect(quantile(hundred, 0.5)).toBe(50);
  expect(quantile(hundred, 0.99)).toBe(99);
  expect(quantile(hundred, 1)).toBe(100);
  expect(quantile([7], 0.5)).toBe(7);
  expect(quantile([], 0.5)).toBeNaN();
});

test('a spread has the middle of an odd number of rounds and the mean of the two middle ones of an even number', () => {
  expect(spread([10, 2, 3])).toEqual({ median: 3, least: 2, greatest: 10 });
  expect(spread([4, 1, 2, 10])).toEqual({ median: 3, least: 1, greatest: 10 });
  expect(spread([]).median).toBeNaN();
});
