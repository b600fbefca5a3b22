import { expect, test } from 'vitest';
import { readOptions } from '../options.js';
import { chosenScenarios, outcomeLines } from './run-scenarios.js';
import { atLeast, atMost } from './scenario.js';

test('scenarios are chosen by name, in their own order, or all of them', () => {
  expect(chosenScenarios(['runs', 'mixed']).map(({ name }) => name)).toEqual(['mixed', 'runs']);
  expect(chosenScenarios(['all'])).toHaveLength(10);
  expect(() => chosenScenarios(['lunch'])).toThrow(
    '--scenario lunch: all, or some of slow-upstream, hanging-upstream, mixed',
  );
});

test('the command line names scenarios, how long they may take and how much past there is', () => {
  const { scenarios, quick, fill } = readOptions(['--scenario', 'runs,growth', '--quick', '--fill', '5000']);
  expect({ scenarios, quick, fill }).toEqual({ scenarios: ['runs', 'growth'], quick: true, fill: 5_000 });
  expect(readOptions([])).toMatchObject({ scenarios: [], quick: false, fill: null });
});

test('a target that is missed and a fault stand out', () => {
  const outcome = {
    rows: [{ system: 'standalone', ratio: 0.5 }],
    verdicts: [atLeast('throughput', 0.5, 0.7), atMost('memory', 1.1, 1.2), atMost('latency', Number.NaN, 5)],
    faults: ['one intent is lost'],
    notes: [],
  };
  expect(outcomeLines(outcome).slice(2)).toEqual([
    '  MISSED   throughput: 0.50, target ≥ 0.70',
    '  reached  memory: 1.10, target ≤ 1.20',
    '  MISSED   latency: NaN, target ≤ 5',
    '  FAULT    one intent is lost',
  ]);
});
