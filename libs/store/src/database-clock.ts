import { monotonic } from '@intendant/runtime';

/**
 * The clock of the database, carried on between two answers of it by the own monotonic clock. It lags by the way of the
 * last answer and never runs ahead; after a pause of the process it may be badly late, so whatever was decided by it is
 * checked against the real clock when it is written (sql/append.ts).
 */
export class DatabaseClock {
  private offset: number | null = null;

  /** `time`: just read from the database, in ms since the epoch. */
  set(time: number): void {
    this.offset = time - monotonic();
  }

  /** In whole ms since the epoch; null before the first answer. */
  now(): number | null {
    return this.offset === null ? null : Math.floor(this.offset + monotonic());
  }
}
