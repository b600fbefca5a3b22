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

test('peers are measured only when asked for, whatever the mode', () => {
  expect(readOptions(['--peers']).systems).toEqual([
    'afternoon',
    'standalone',
    'services',
    'dbos',
    'graphile-worker',
    'pg-boss',
    'restate',
  ]);
  expect(readOptions(['--peers', '--mode', 'standalone', '--only', 'standalone,services,restate']).systems).toEqual([
    'standalone',
    'restate',
  ]);
});

test('the first of several concurrencies is the main one', () => {
  const { concurrency, furtherConcurrencies } = readOptions(['--concurrencies', '256,32,8']);
  expect({ concurrency, furtherConcurrencies }).toEqual({ concurrency: 256, furtherConcurrencies: [32, 8] });
});

test('the guard is short unless it is told otherwise', () => {
  expect(readOptions(['--guard'])).toMatchObject({ guard: true, rounds: 2, intents: 2000 });
  expect(readOptions(['--guard', '--rounds', '5', '--intents', '9000'])).toMatchObject({ rounds: 5, intents: 9000 });
});

test.each([
  [['--rounds', '0'], '--rounds 0: a whole number above 0'],
  [['--intents', '5e3'], '--intents 5e3: a whole number above 0'],
  [['--concurrencies', '256,,8'], '--concurrencies : a whole number above 0'],
  [['--concurrencies', '8,8'], '--concurrencies 8,8: each number once'],
  [['--only', 'dbos'], '--only dbos: it needs --peers'],
  [['--mode', 'cluster'], '--mode cluster: standalone, services or both'],
  [['--only', 'morning'], '--only morning: one of afternoon, standalone, services'],
  [['--mode', 'services', '--only', 'standalone'], 'nothing is left to measure'],
])('%j is refused in plain words', (args, message) => {
  expect(() => readOptions(args)).toThrow(message);
});

test.each([
  [['--quick'], /--quick is for scenarios/],
  [['--fill', '10'], /--fill is for scenarios/],
  [['--guard', '--scenario', 'mixed'], /--guard runs alone: leave out --scenario/],
  [['--guard', '--peers'], /--guard runs alone: leave out --peers/],
  [['--scenario', 'mixed', '--peers'], /leave out --peers/],
])('%j is refused, since a part of it would be ignored', (args, message) => {
  expect(() => readOptions(args)).toThrow(message);
});
