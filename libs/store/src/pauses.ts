import { type Pause, type PauseScope, pausesKnownMs } from '@intendant/contracts';
import { monotonic, newId } from '@intendant/runtime';
import type { Pool, QueryResultRow } from 'pg';
import { answering } from './errors.js';
import { beginPause, countUnderWay, currentPauses, endPause, type PauseRow, wakeAuthorized } from './sql/pauses.js';

export interface NewPause extends PauseScope {
  readonly reason: string;
  readonly author: string;
  /** The tenant the author works for; null: for all. Only somebody of the same, or who works for all, may end it. */
  readonly authorTenant: string | null;
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
   * Those in force, by what was read at most {@link pausesKnownMs} before the call, so that decisions cost a look at the
   * database once a second.
   *
   * @throws StoreUnavailable when nobody can tell
   */
  async current(): Promise<readonly Pause[]> {
    const oldest = monotonic() - pausesKnownMs;
    // A second time where somebody else's look had begun too early; the next one begins after the call.
    while (this.asOf < oldest) {
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

  /** Those in force now that concern a tenant; undefined for all. */
  async list(tenant: string | undefined): Promise<Pause[]> {
    const all = (await this.query<PauseRow>(currentPauses)).map(toPause);
    return tenant === undefined ? all : all.filter((pause) => pause.tenant === null || pause.tenant === tenant);
  }

  /** Replaces one of the same scope and authority. */
  async begin({ tenant, tool, namespace, upstream, reason, author, authorTenant, forMs }: NewPause): Promise<Pause> {
    const values = [newId(), tenant, tool, namespace, upstream, reason, author, authorTenant, forMs];
    const [row] = await this.query<PauseRow>(beginPause, values);
    return toPause(row as PauseRow);
  }

  /** Null where there is none of that id in force, or where the operator's tenant (null: all) does not reach. */
  async end(id: string, by: string, tenant: string | null): Promise<Pause | null> {
    const [row] = await this.query<PauseRow>(endPause, [id, by, tenant]);
    return row ? toPause(row) : null;
  }

  /** What may have waited for a pause is announced with the next sweep, instead of within a minute. */
  async wake({ tenant, tool, namespace }: PauseScope): Promise<void> {
    await this.query(wakeAuthorized, [tenant, tool, namespace]);
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
