import { expect, test } from 'vitest';
import { readOptions } from './options.js';

test('without options every layer runs, with ten rounds and a seed of its own', () => {
  const options = readOptions([]);
  expect(options).toMatchObject({ layers: ['L0', 'L1', 'L2', 'L3', 'L4', 'L5'], rounds: 10, mutants: null });
  expect(Number.isSafeInteger(options.seed)).toBe(true);
});

test('the short run has two rounds side by side', () => {
  expect(readOptions(['--short'])).toMatchObject({ short: true, rounds: 2, workers: 2 });
});

test('a number of rounds alone means rounds and nothing else', () => {
  expect(readOptions(['--rounds', '100', '--seed', '7'])).toMatchObject({ layers: ['L5'], rounds: 100, seed: 7 });
  expect(readOptions(['--rounds', '3', '--layers', 'L0,L5']).layers).toEqual(['L0', 'L5']);
  expect(readOptions(['--minutes', '5']).layers).toHaveLength(6);
});

test('a limit in minutes alone means rounds without end until then', () => {
  expect(readOptions(['--minutes', '60']).rounds).toBe(10_000);
  expect(readOptions(['--minutes', '60', '--rounds', '3']).rounds).toBe(3);
});

test('the mutation gate takes names or, without any, all mutants', () => {
  expect(readOptions(['--mutants', '--seed', '7'])).toMatchObject({ mutants: ['all'], seed: 7 });
  expect(readOptions(['--mutants', 'settle-zero, naive-cursor'])).toMatchObject({
    mutants: ['settle-zero', 'naive-cursor'],
  });
});

test.each([
  [['--rounds', 'many'], '--rounds must be a whole number of at least 1; got "many"'],
  [['--workers', '0'], '--workers must be a whole number of at least 1; got "0"'],
  [['--layers', 'L9'], 'there is no layer L9; there are L0, L1'],
  [['--case', ','], '--case must name something; got ","'],
  [['--rond', '3'], "Unknown option '--rond'"],
])('%j is refused with what would be right', (args, message) => {
  expect(() => readOptions(args)).toThrow(message);
});
