import { isFinished } from '@intendant/intent';
import type { Pool } from 'pg';
import { answering } from './errors.js';
import { type DoubtedRow, doubtedOf, type RunLogRow, runLog } from './sql/run-log.js';

/** Where an event lies in the log of its run. */
export interface RunPosition {
  /** Number of the transaction that wrote it, in decimal digits. */
  readonly xid: string;
  readonly intentId: string;
  readonly version: number;
}

export const runStart: RunPosition = { xid: '0', intentId: '', version: 0 };

export interface RunLogPage {
  readonly positions: readonly RunPosition[];
  /** How many events the run has, its end counted as one; for {@link Changes}. */
  readonly total: number;
  /** There are newer ones, whose place in the order is not final yet. */
  readonly withheld: boolean;
  /** Some intent of the run is not over. */
  readonly open: boolean;
}

/**
 * All events of a run in one order that never changes: whoever goes on after the last position it has seen misses
 * nothing and sees nothing twice. In it, the events of each intent are in the order of its own log.
 */
export class RunLog {
  constructor(private readonly pool: Pool) {}

  async after(runId: string, { xid, intentId, version }: RunPosition, limit: number): Promise<RunLogPage> {
    const values = [runId, xid, intentId, version, limit];
    const { rows } = await answering(() => this.pool.query<RunLogRow>({ ...runLog, values }));
    const [first] = rows;
    return {
      positions: rows.flatMap((row) =>
        row.xid === null ? [] : [{ xid: row.xid, intentId: row.intentId, version: row.version }],
      ),
      total: first?.total ?? 0,
      withheld: first?.withheld ?? false,
      open: first?.open ?? false,
    };
  }

  /** Evidence that comes late may still be added to one of its intents, also when all are over. */
  async mayBeCorrected(runId: string): Promise<boolean> {
    const { rows } = await answering(() => this.pool.query<DoubtedRow>({ ...doubtedOf, values: [runId] }));
    return rows.some(({ types, effect }) => !isFinished(types, effect));
  }
}
