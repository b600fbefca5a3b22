import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { longestDurationMs, parseDuration } from './duration.js';

describe('a duration', () => {
  test.each([
    ['500ms', 500],
    ['2s', 2000],
    ['1.5s', 1500],
    ['5m', 300_000],
    ['24h', 86_400_000],
    ['7d', 604_800_000],
    ['0s', 0],
    ['PT24H', 86_400_000],
    ['P90D', 7_776_000_000],
    ['P2W', 1_209_600_000],
    ['P1DT2H3M4.5S', 93_784_500],
    ['PT0S', 0],
    ['P3650D', longestDurationMs],
  ])('%s is %i ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  test.each([
    '',
    '5',
    's',
    '5 s',
    '-5s',
    '5S',
    'P',
    'PT',
    'P1DT',
    'P1M',
    'P1Y',
    'PT1H ',
    '1e3s',
    '5s5s',
    'P3651D',
    '999999999999h',
  ])('%j is none', (text) => {
    expect(parseDuration(text)).toBeNull();
  });

  test('means the same in both notations', () => {
    fc.assert(
      fc.property(fc.nat(100_000), (n) => {
        expect(parseDuration(`PT${n}S`)).toBe(parseDuration(`${n}s`));
        expect(parseDuration(`PT${n}M`)).toBe(parseDuration(`${n}m`));
        expect(parseDuration(`${n}s`)).toBe(parseDuration(`${n * 1000}ms`));
      }),
    );
  });
});
