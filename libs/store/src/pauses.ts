import { type Pause, type PauseScope, pausesKnownMs } from '@intendant/contracts';
import { monotonic, newId } from '@intendant/runtime';
import type { Pool, QueryResultRow } from 'pg';
import { answering } from './errors.js';
import { countUnderWay, currentPauses, endPause, type PauseRow, setPause, wakeAuthorized } from './sql/pauses.js';

export interface NewPause extends PauseScope {
  readonly reason: string;
  readonly author: string;
  /** How long, counted on the database clock; null: until somebody ends it. */
  readonly forMs: number | null;
}

/** What operators have paused. */
export class Pauses {
  private known: readonly Pause[] = [];
  /** When that was asked for, on the own monotonic clock. */
  private asOf = Number.NEGATIVE_INFINITY;
  private reading: Promise<void> | null = null;

  constructor(private readonly pool: Pool) {}

  /**
   * Those in force, at most {@link pausesKnownMs} old, so that a decision costs a look at the database once a second.
   *
   * @throws StoreUnavailable when nobody can tell
   */
  async current(): Promise<readonly Pause[]> {
    while (monotonic() - this.asOf > pausesKnownMs) {
      this.reading ??= this.read().finally(() => {
        this.reading = null;
      });
      await this.reading;
    }
    return this.known;
  }

  /** As `current`, from memory alone, for whoever has asked a moment ago. */
  get lastKnown(): readonly Pause[] {
    return this.known;
  }

  /** Those in force now, of everybody and, where a tenant is given, of that tenant only. */
  async list(tenant: string | undefined): Promise<Pause[]> {
    const all = (await this.query<PauseRow>(currentPauses)).map(toPause);
    return tenant === undefined ? all : all.filter((pause) => pause.tenant === null || pause.tenant === tenant);
  }

  /** A scope that is paused already stays so, with the reason, author and end of now. */
  async set({ tenant, tool, namespace, upstream, reason, author, forMs }: NewPause): Promise<Pause> {
    const values = [newId(), tenant, tool, namespace, upstream, reason, author, forMs];
    const [row] = await this.query<PauseRow>(setPause, values);
    return toPause(row as PauseRow);
  }

  /** Ends it and wakes what may have waited for it; null where there is none of that id, or not of that tenant. */
  async end(id: string, by: string, tenant: string | null): Promise<Pause | null> {
    const [row] = await this.query<PauseRow>(endPause, [id, by, tenant]);
    if (!row) return null;
    await this.query(wakeAuthorized, [row.tenant, row.tool, row.namespace]);
    return toPause(row);
  }

  /** How many intents of these tools have an attempt open, were accepted, or have an unknown outcome. */
  async underWay(tenant: string | null, tools: readonly string[]): Promise<number> {
    const [row] = await this.query<{ count: number }>(countUnderWay, [tenant, tools]);
    return row?.count ?? 0;
  }

  private async read(): Promise<void> {
    const asked = monotonic();
    this.known = (await this.query<PauseRow>(currentPauses)).map(toPause);
    this.asOf = asked;
  }

  private async query<T extends QueryResultRow>(
    statement: { readonly name: string; readonly text: string },
    values: readonly unknown[] = [],
  ): Promise<T[]> {
    return (await answering(() => this.pool.query<T>({ ...statement, values: [...values] }))).rows;
  }
}

function toPause({ since, until, ...row }: PauseRow): Pause {
  return { ...row, since: since.toISOString(), until: until?.toISOString() ?? null };
}
