import { expect, test } from 'vitest';
import { loadOf } from './figures.spec-helper.js';
import { type GuardRound, judge, limits, toLines } from './guard.js';

/** A round in which ours has this share of the throughput and this multiple of the CPU time. */
function round(shape: GuardRound['shape'], throughput: number, cpu = 1, otherCores = 0): GuardRound {
  return {
    shape,
    ours: loadOf(256, { perSecond: throughput * 1_000, cpuTotal: cpu * 0.5 }),
    theirs: loadOf(256, { perSecond: 1_000, cpuTotal: 0.5, otherCores }),
  };
}
const goodServices = round('services', 0.8);
const verdictOf = (...rounds: GuardRound[]) => judge(rounds).verdict;

test('ratios inside of the limits are kept, each shape having its own', () => {
  const { throughput, cpu } = limits.standalone;
  expect(verdictOf(round('standalone', throughput, cpu), goodServices)).toBe('kept');
  expect(verdictOf(round('standalone', 1), round('services', limits.services.throughput))).toBe('kept');
});

test('a throughput that is too low, or CPU time that is too high, in either shape breaks the build', () => {
  const { throughput, cpu } = limits.standalone;
  expect(verdictOf(round('standalone', throughput - 0.01), goodServices)).toBe('broken');
  expect(verdictOf(round('standalone', 1, cpu + 0.01), goodServices)).toBe('broken');
  expect(verdictOf(round('standalone', 1), round('services', 1, limits.services.cpu + 0.01))).toBe('broken');
});

test('the median counts, and of undisturbed rounds only', () => {
  expect(verdictOf(round('standalone', 0.4), round('standalone', 0.7), goodServices)).toBe('kept');
  expect(verdictOf(round('standalone', 0.1, 9, 0.6), round('standalone', 0.7), goodServices)).toBe('kept');
  expect(verdictOf(round('standalone', 0.1), round('standalone', 2, 1, 0.6), goodServices)).toBe('broken');
});

test('where every round was disturbed nothing is judged, and that is said', () => {
  const judgement = judge([round('standalone', 0.1, 9, 0.6), round('standalone', 0.1, 9, 1.2), goodServices]);
  expect(judgement.verdict).toBe('disturbed');
  expect(toLines(judgement)).toEqual([
    'standalone against the afternoon version: throughput 0.10 (0.10 to 0.10), at least 0.5; CPU 9.00 (9.00 to 9.00), at most 1.6; 0.6, 1.2 cores of other work: not judged, every round was disturbed',
    'services against the afternoon version: throughput 0.80 (0.80 to 0.80), at least 0.35; CPU 1.00 (1.00 to 1.00), at most 2.2; 0.0 cores of other work: kept',
  ]);
});

test('a broken shape is not excused by the disturbance of the other', () => {
  expect(verdictOf(round('standalone', 0.1, 9, 0.6), round('services', 0.1))).toBe('broken');
});
