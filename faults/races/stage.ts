import type { Commit } from '@intendant/contracts';
import { Store } from '@intendant/store';
import pg from 'pg';
import { VirtualTime } from './virtual-time.js';

/** A migrated database: as the application role, and as its owner. */
export interface RaceDatabase {
  readonly url: string;
  readonly ownerUrl: string;
}

export const storeNames = ['policy', 'standalone', 'dispatcher', 'reconciler/0', 'reconciler/1', 'relay'] as const;
export type StoreName = (typeof storeNames)[number];

/** What all schedules are played on, one after the other: one database, and a store of its own for each process. */
export class Stage {
  /** Told after each commit; set by the schedule that is on. */
  committed: (commit: Commit) => void = () => {};

  private constructor(
    readonly time: VirtualTime,
    readonly owner: pg.Pool,
    readonly stores: Readonly<Record<StoreName, Store>>,
    /** How long the upstream works on a request at most, in ms. */
    readonly processingMs: number,
  ) {}

  static async begin({ url, ownerUrl }: RaceDatabase, processingMs: number): Promise<Stage> {
    const time = await VirtualTime.take(ownerUrl);
    const owner = new pg.Pool({ connectionString: ownerUrl, max: 2 });
    const opened = storeNames.map(
      async (name): Promise<[StoreName, Store]> => [
        name,
        await Store.open({ url, name, poolSize: 3 }, { committed: (commit) => stage.committed(commit) }),
      ],
    );
    const stores = Object.fromEntries(await Promise.all(opened)) as Record<StoreName, Store>;
    const stage = new Stage(time, owner, stores, processingMs);
    return stage;
  }

  /** Nothing of the last schedule is left. */
  async clear(): Promise<void> {
    await this.owner.query(
      'DELETE FROM outbox; DELETE FROM lookup_receipts; DELETE FROM events; DELETE FROM intents; DELETE FROM runs',
    );
  }

  /** What is open: in how many ms the next intent is due (null: none is), and how much is to be published. */
  async open(): Promise<{ readonly dueIn: number | null; readonly outbox: number }> {
    await this.time.tell();
    const { rows } = await this.owner.query(
      `SELECT (SELECT count(*)::int FROM outbox) AS outbox,
         (extract(epoch FROM min(wake_at) - clock_timestamp()) * 1000)::float8 AS "dueIn"
       FROM intents WHERE wake_at IS NOT NULL`,
    );
    return rows[0];
  }

  async close(): Promise<void> {
    await Promise.all(Object.values(this.stores).map((store) => store.close()));
    await this.owner.end();
    await this.time.giveBack();
  }
}
