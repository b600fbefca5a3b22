import { Coalescer } from '@intendant/runtime';
import type { Pool } from 'pg';
import { answering } from './errors.js';
import { closeRun, findRuns, openRun, type RunRow } from './sql/runs.js';

export interface Run {
  readonly id: string;
  readonly tenant: string;
  readonly user: string;
  readonly profile: 'interactive' | 'batch';
  readonly permissions: readonly string[];
  readonly phase: string | null;
  /** Name of the service key that opened it. */
  readonly openedBy: string;
  /** Ms since the epoch. */
  readonly expiresAt: number;
  readonly closed: boolean;
}

/** Open runs that are remembered. */
const maxOpen = 10_000;

/** The trusted side's record of who acts with which authority. */
export class Runs {
  private readonly loads: Coalescer<string, Run | null>;
  private readonly remembered = new Map<string, Run>();

  constructor(private readonly pool: Pool) {
    this.loads = new Coalescer((ids) => this.findMany(ids), 256, 2);
  }

  /** Opens a run that lives `ttlMs`, counted on the database clock. */
  async open(run: Omit<Run, 'expiresAt' | 'closed'>, ttlMs: number): Promise<Run> {
    const { id, tenant, user, profile, permissions, phase, openedBy } = run;
    const values = [id, tenant, user, profile, permissions, phase, openedBy, ttlMs];
    const { rows } = await answering(() => this.pool.query<RunRow>({ ...openRun, values }));
    return toRun(rows[0] as RunRow);
  }

  /** Many calls at once share one query. */
  find(id: string): Promise<Run | null> {
    return this.loads.request(id);
  }

  /**
   * As `find`, from memory where the run was open when it was last seen. It may have been closed since: the door refuses
   * to record anything in it then.
   */
  async recall(id: string): Promise<Run | null> {
    const known = this.remembered.get(id);
    if (known) return known;
    const run = await this.find(id);
    if (run === null || run.closed) return run;
    if (this.remembered.size >= maxOpen) this.remembered.clear();
    this.remembered.set(id, run);
    return run;
  }

  /** True when it is closed afterwards; false where there is no such run of this tenant. */
  async close(id: string, tenant: string): Promise<boolean> {
    this.remembered.delete(id);
    const { rowCount } = await answering(() => this.pool.query({ ...closeRun, values: [id, tenant] }));
    return rowCount === 1;
  }

  private async findMany(ids: readonly string[]): Promise<(Run | null)[]> {
    const { rows } = await answering(() => this.pool.query<RunRow>({ ...findRuns, values: [[...new Set(ids)]] }));
    const byId = new Map(rows.map((row) => [row.id, toRun(row)]));
    return ids.map((id) => byId.get(id) ?? null);
  }
}

function toRun({ expiresAt, closedAt, ...row }: RunRow): Run {
  return { ...row, expiresAt: expiresAt.getTime(), closed: closedAt !== null };
}
