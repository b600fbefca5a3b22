import { expect, test } from 'vitest';
import { busInequalities, busWindows, runLifetimes } from './lifetimes.js';

test('the windows of the bus fit the lives of runs', () => {
  expect(busInequalities(busWindows, runLifetimes).filter(({ holds }) => !holds)).toEqual([]);
});

test.each<[string, Partial<Record<keyof typeof busWindows, number>>]>([
  ['submissions are kept (1000 ms) must be at least the longest run (86400000 ms)', { submissionMs: 1_000 }],
  ['doorbells are kept (86399999 ms) must be at least the longest run (86400000 ms)', { doorbellMs: 86_399_999 }],
  ['public events are kept (0 ms) must be at least the longest run (86400000 ms)', { eventMs: 0 }],
  ['the duplicate window (120000 ms) must be at least a publish and its repetition (180000 ms)', { publishMs: 90_000 }],
  [
    'the duplicate window (120000 ms) must be at least the wait for an acknowledgement (130000 ms)',
    { ackWaitMs: 130_000 },
  ],
])('what does not fit is named with its numbers: %s', (sentence, changes) => {
  const broken = busInequalities({ ...busWindows, ...changes }, runLifetimes).filter(({ holds }) => !holds);
  expect(broken.map(({ inequality }) => inequality)).toEqual([sentence]);
});
