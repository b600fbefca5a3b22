import { expect, it } from 'vitest';
import { type Json, sameJson } from './json.js';

const alike: [Json, Json][] = [
  [1, 1],
  [null, null],
  [
    { a: 1, b: [1, { c: 2 }] },
    { b: [1, { c: 2 }], a: 1 },
  ],
];
const different: [Json, Json][] = [
  [1, '1'],
  [null, {}],
  [[], {}],
  [[1], [1, null]],
  [{ a: null }, { b: null }],
  [{ a: 1 }, { a: 1, b: 2 }],
  [{ a: [1, 2] }, { a: [2, 1] }],
];

it.each(alike)('%j is the same value as %j', (a, b) => {
  expect(sameJson(a, b)).toBe(true);
});

it.each(different)('%j is another value than %j', (a, b) => {
  expect(sameJson(a, b)).toBe(false);
  expect(sameJson(b, a)).toBe(false);
});
