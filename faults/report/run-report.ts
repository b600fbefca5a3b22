import type { CaseReport } from '../case.js';

/** What a run came to: every case that was judged, and what it takes to run it again. */
export interface RunReport {
  /** In ms since the epoch. */
  readonly startedAt: number;
  readonly seconds: number;
  readonly seed: number;
  /** Of the sources; null outside a clone. */
  readonly commit: string | null;
  /** As they were read from the command line. */
  readonly options: unknown;
  readonly cases: readonly CaseReport[];
}
