import { expect, test } from 'vitest';
import { readOptions } from './options.js';

test('without options everything is measured in three rounds', () => {
  const { rounds, intents, concurrency, systems, counts } = readOptions([]);
  expect({ rounds, intents, concurrency, counts }).toEqual({
    rounds: 3,
    intents: 5000,
    concurrency: 256,
    counts: true,
  });
  expect(systems).toEqual(['afternoon', 'standalone', 'services']);
});

test('a mode keeps the yardstick, and --only leaves out whatever it does not name', () => {
  expect(readOptions(['--mode', 'services']).systems).toEqual(['afternoon', 'services']);
  expect(readOptions(['--only', 'standalone,afternoon']).systems).toEqual(['afternoon', 'standalone']);
});

test.each([
  [['--rounds', '0'], '--rounds 0: a whole number above 0'],
  [['--intents', '5e3'], '--intents 5e3: a whole number above 0'],
  [['--mode', 'cluster'], '--mode cluster: standalone, services or both'],
  [['--only', 'morning'], '--only morning: one of afternoon, standalone, services'],
  [['--mode', 'services', '--only', 'standalone'], 'nothing is left to measure'],
])('%j is refused in plain words', (args, message) => {
  expect(() => readOptions(args)).toThrow(message);
});
