import { expect, test } from 'vitest';
import { rotated } from './rotation.js';

test('every round has all systems once, and each system every place in turn', () => {
  const systems = ['a', 'b', 'c'];
  const rounds = [1, 2, 3].map((round) => rotated(systems, round));
  expect(rounds).toEqual([
    ['b', 'c', 'a'],
    ['c', 'a', 'b'],
    ['a', 'b', 'c'],
  ]);
  expect(rotated(systems, 4)).toEqual(rounds[0]);
});
