import { expect, test } from 'vitest';
import { retryAfterMs } from './retry-after.js';

const date = 'Wed, 21 Oct 2026 07:28:00 GMT';

test.each([
  ['0', 0],
  [' 120 ', 120_000],
  ['Wed, 21 Oct 2026 07:29:00 GMT', 60_000],
  ['Wed, 21 Oct 2026 07:27:00 GMT', 0],
  ['-5', null],
  ['1.5', null],
  ['soon', null],
  ['99999999999999999999999', null],
  ['Wed, 21 Oct 2099 07:29:00 GMT', null],
])('Retry-After: %s is %s ms', (value, ms) => {
  expect(retryAfterMs({ 'retry-after': value, date })).toBe(ms);
});

test('a date says nothing without the date of the answer', () => {
  expect(retryAfterMs({ 'retry-after': date })).toBeNull();
  expect(retryAfterMs({})).toBeNull();
});
