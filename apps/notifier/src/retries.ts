const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

export interface RetrySchedule {
  /** Pauses after the first, the second… failed try, in ms; the last holds from then on. */
  readonly pausesMs: readonly number[];
  /** How old a notice may become before it is given up, in ms; none is before every pause was tried once. */
  readonly givenUpAfterMs: number;
}

export const retrySchedule: RetrySchedule = {
  pausesMs: [5 * second, 30 * second, 2 * minute, 10 * minute, 30 * minute, hour],
  givenUpAfterMs: 72 * hour,
};

const longestAskedMs = hour;

export interface FailedTry {
  /** Tries so far. */
  readonly tries: number;
  /** Since the notice was stored. */
  readonly ageMs: number;
  /** What the destination asked for by `Retry-After`. */
  readonly askedMs: number | null;
}

/**
 * Pause before the next try in ms, or null when the notice is given up. A fifth of it is random, so that what failed
 * together does not come back together.
 *
 * @param random in [0, 1)
 */
export function nextPause(
  schedule: RetrySchedule,
  { tries, ageMs, askedMs }: FailedTry,
  random: number,
): number | null {
  const { pausesMs, givenUpAfterMs } = schedule;
  if (ageMs >= givenUpAfterMs && tries > pausesMs.length) return null;
  const pause = (pausesMs[tries - 1] ?? pausesMs.at(-1) ?? 0) * (0.9 + 0.2 * random);
  return Math.round(Math.max(pause, Math.min(askedMs ?? 0, longestAskedMs)));
}
