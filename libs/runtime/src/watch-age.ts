import type { Logger } from './logger.js';
import { Loop } from './loop.js';

export interface WatchAgeOptions {
  /** What is watched, for the log. */
  readonly name: string;
  readonly gauge: { set(seconds: number): void };
  /** Age of the oldest, in ms; 0 where there is none. */
  readonly readMs: () => Promise<number>;
  readonly logger: Logger;
}

const everyMs = 2_000;

/**
 * Keeps a gauge at the age of the oldest of something, so that whoever scrapes asks no database. NaN while nobody can
 * tell: an age that stands still would look like health.
 */
export function watchAge({ name, gauge, readMs, logger }: WatchAgeOptions): Loop {
  const runOnce = async () => {
    try {
      gauge.set((await readMs()) / 1_000);
    } catch (error) {
      gauge.set(Number.NaN);
      throw error;
    }
    return 0;
  };
  return new Loop({ name, idleMs: everyMs, logger, runOnce });
}
