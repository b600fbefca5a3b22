import { expect, test } from 'vitest';
import { tableLines } from './table.js';

test('columns are as wide as their widest cell, numbers to the right', () => {
  expect(
    tableLines([
      { system: 'standalone', rate: 1234.5 },
      { system: 'x', rate: 0.123 },
    ]),
  ).toEqual(['system      rate', 'standalone  1235', 'x           0.12']);
});
