import { doorbellSize, type Ring, subjects } from '@intendant/contracts';
import { newId } from '@intendant/runtime';
import type { Pool } from 'pg';
import { answering } from './errors.js';
import type { Outbox } from './outbox.js';
import { announceAgainMs } from './projection.js';
import {
  claimDue,
  claimExpired,
  claimUnheard,
  giveBack,
  insertDoorbell,
  oldestUnknown,
  pruneYields,
} from './sql/sweeps.js';

export interface Due {
  readonly intentId: string;
  readonly tool: string;
  /** When it was claimed, in ms since the epoch on the database clock. */
  readonly claimedAt: number;
}

type DueState = 'dispatching' | 'unknown' | 'accepted' | 'committed';

/** Finds intents that something has to happen to. Any number of sweepers may run: each takes other rows. */
export class Sweeps {
  constructor(
    private readonly pool: Pool,
    private readonly outbox: Outbox,
  ) {}

  /** Intents in `state` whose time has come, except of the tools `notOf`; nobody else gets them for `claimMs`. */
  async claimDue(state: DueState, limit: number, claimMs: number, notOf: readonly string[] = []): Promise<Due[]> {
    const { rows } = await this.pool.query<{ id: string; tool: string; now: number }>({
      ...claimDue,
      values: [state, limit, claimMs, notOf],
    });
    return rows.map(({ id, tool, now }) => ({ intentId: id, tool, claimedAt: Math.floor(now) }));
  }

  /** Nothing was done about a claimed intent; it is due again, for anybody. */
  async giveBack(state: DueState, intentId: string): Promise<void> {
    await this.pool.query({ ...giveBack, values: [state, intentId] });
  }

  async expired(limit: number): Promise<string[]> {
    const { rows } = await this.pool.query<{ id: string }>({ ...claimExpired, values: [limit] });
    return rows.map((row) => row.id);
  }

  /** Rings again for authorized intents that nobody picked up, whatever the broker says it delivered. */
  async announceAgain(limit: number): Promise<number> {
    const { rows } = await answering(() =>
      this.pool.query<Ring['intents'][number]>({ ...claimUnheard, values: [limit, announceAgainMs] }),
    );
    for (let i = 0; i < rows.length; i += doorbellSize) {
      const ring: Ring = { intents: rows.slice(i, i + doorbellSize) };
      const bell = { msgId: newId(), subject: subjects.dispatch, payload: JSON.stringify(ring) };
      await answering(() => this.pool.query({ ...insertDoorbell, values: [bell.msgId, bell.subject, bell.payload] }));
      this.outbox.announce([bell]);
    }
    return rows.length;
  }

  /** For how long the outcome of the oldest such intent has been unknown, in ms; 0 when there is none. */
  async oldestUnknownMs(): Promise<number> {
    const { rows } = await this.pool.query<{ ms: number | null }>({ ...oldestUnknown });
    return rows[0]?.ms ?? 0;
  }

  /** Forgets identifiers that no run can use any more; how many. */
  async pruneYields(limit = 10_000): Promise<number> {
    const { rowCount } = await this.pool.query({ ...pruneYields, values: [limit] });
    return rowCount ?? 0;
  }

  /** Makes room for the events of the coming months. */
  async ensureEventPartitions(): Promise<number> {
    const { rows } = await this.pool.query<{ made: number }>({
      text: 'SELECT ensure_event_partitions(2) AS made',
    });
    return rows[0]?.made ?? 0;
  }
}
