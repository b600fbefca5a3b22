import { describe, expect, test } from 'vitest';
import { nextPause, retrySchedule } from './retries.js';

const minute = 60_000;
const hour = 60 * minute;
const pause = (tries: number, over: { ageMs?: number; askedMs?: number } = {}, random = 0.5) =>
  nextPause(retrySchedule, { tries, ageMs: over.ageMs ?? 0, askedMs: over.askedMs ?? null }, random);

describe('the pause after a failed try', () => {
  test('grows to an hour, and stays there', () => {
    expect([1, 2, 3, 4, 5, 6, 7, 70].map((tries) => pause(tries))).toEqual([
      5_000,
      30_000,
      2 * minute,
      10 * minute,
      30 * minute,
      hour,
      hour,
      hour,
    ]);
  });

  test('is random by a tenth to both sides', () => {
    expect([pause(1, {}, 0), pause(1, {}, 0.999_999)]).toEqual([4_500, 5_500]);
  });

  test('is at least what the destination asks for, up to an hour', () => {
    expect(pause(1, { askedMs: 90_000 })).toBe(90_000);
    expect(pause(3, { askedMs: 90_000 })).toBe(2 * minute);
    expect(pause(1, { askedMs: 26 * hour })).toBe(hour);
  });

  test('ends after three days, and not before a destination that was told late had its tries', () => {
    expect(pause(80, { ageMs: 72 * hour - 1 })).toBe(hour);
    expect(pause(80, { ageMs: 72 * hour })).toBeNull();
    expect(pause(6, { ageMs: 100 * hour })).toBe(hour);
    expect(pause(7, { ageMs: 100 * hour })).toBeNull();
  });
});
