import { expect, it } from 'vitest';
import { parseDuration } from './duration.js';

it.each([
  ['90', 90_000],
  ['45s', 45_000],
  ['10m', 600_000],
  ['2h', 7_200_000],
  ['1d', 86_400_000],
  ['PT30M', 1_800_000],
  ['PT1H30M', 5_400_000],
  ['P1DT1S', 86_401_000],
])('reads %s as %d ms', (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

it.each(['', 'P', 'PT', 'P1DT', '2 h', '-1h', '1.5h', 'P1M', 'P1Y', '2w', 'soon', '1e3'])(
  'does not guess what "%s" means',
  (text) => {
    expect(parseDuration(text)).toBeNull();
  },
);
