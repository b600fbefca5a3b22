import type { OutboxMessage } from '@intendant/contracts';
import { faultPoint } from '@intendant/runtime';
import type { Pool, PoolClient, QueryConfig } from 'pg';
import { Delayed } from './delayed.js';
import { claimOutbox, deleteOutbox, type OutboxRow, oldestOutbox } from './sql/outbox.js';
import { queryLimitMs } from './timed-pool.js';

export interface Relayed {
  readonly claimed: number;
  readonly published: number;
}

/** Publishes messages and resolves with the ids of those that the bus has. */
export type Publish = (messages: readonly OutboxMessage[]) => Promise<ReadonlySet<string>>;

/** Messages on their way to the bus; what comes on top is left to the relay. */
const maxOnTheWay = 20_000;
/**
 * How long messages gather before they are published together, in ms: dispatchers and waiting callers hear of a commit by
 * hint, at once.
 */
const publishAfterMs = 20;
/** The same for the rows of published messages before they are deleted. */
const deleteAfterMs = 100;

/** Messages on their way to the bus. Their order means nothing: consumers reload the intent. */
export class Outbox {
  /** To be published next. */
  private readonly gathered: OutboxMessage[] = [];
  private onTheWay = 0;
  private readonly published: string[] = [];
  private readonly publishing = new Delayed(publishAfterMs, () => this.publishGathered());
  private readonly deleting = new Delayed(deleteAfterMs, () => this.deletePublished());

  constructor(
    private readonly pool: Pool,
    /** How to publish what was committed here; without it everything is left to the relay. */
    private readonly publish?: Publish,
  ) {}

  /**
   * Publishes what was just committed, in the background, and deletes it once the bus has it. Dying on the way costs
   * nothing: the rows are there, and the relay takes what stays for a while.
   */
  announce(messages: readonly OutboxMessage[]): void {
    if (!this.publish || messages.length === 0 || this.onTheWay + messages.length > maxOnTheWay) return;
    this.onTheWay += messages.length;
    this.gathered.push(...messages);
    this.publishing.schedule();
  }

  /** Publishes what has gathered, and waits for it. */
  async flush(): Promise<void> {
    await this.publishing.flush();
    await this.deleting.flush();
  }

  /**
   * Claims up to `limit` messages that are older than `olderThanMs`, hands them to `publish` and deletes those it names
   * as acknowledged, in one transaction. Dying anywhere in it leaves the messages for the next relay: published twice,
   * never lost.
   */
  async relay(limit: number, publish: Publish, olderThanMs = 0): Promise<Relayed> {
    const client = await this.pool.connect();
    try {
      await client.query(limited({ text: 'BEGIN' }));
      const { rows } = await client.query<OutboxRow>(limited({ ...claimOutbox, values: [limit, olderThanMs] }));
      const published = rows.length === 0 ? new Set<string>() : await publish(rows.map(toMessage));
      const done = rows.flatMap((row) => (published.has(row.msg_id) ? [row.msg_id] : []));
      if (done.length > 0) await client.query(limited({ ...deleteOutbox, values: [done] }));
      await client.query(limited({ text: 'COMMIT' }));
      client.release();
      return { claimed: rows.length, published: done.length };
    } catch (error) {
      await abandon(client, error as Error);
      throw error;
    }
  }

  /** For how long the oldest message has been waiting for the bus, in ms; 0 when none does. */
  async oldestMs(): Promise<number> {
    const { rows } = await this.pool.query<{ ms: number | null }>({ ...oldestOutbox });
    return rows[0]?.ms ?? 0;
  }

  private async publishGathered(): Promise<void> {
    const messages = this.gathered.splice(0);
    if (!this.publish || messages.length === 0) return;
    try {
      faultPoint('outbox.before_publish');
      const ids = await this.publish(messages);
      faultPoint('outbox.after_publish');
      this.published.push(...ids);
      this.deleting.schedule();
    } catch {
      leftToTheRelay();
    } finally {
      this.onTheWay -= messages.length;
    }
  }

  private async deletePublished(): Promise<void> {
    const ids = this.published.splice(0);
    if (ids.length > 0) await this.pool.query({ ...deleteOutbox, values: [ids] }).catch(leftToTheRelay);
  }
}

/** Whatever went wrong: the relay publishes it, again perhaps, and the bus knows a message by its id. */
function leftToTheRelay(): void {}

/** A client whose rollback failed is of unknown state and must not go back to the pool. */
async function abandon(client: PoolClient, cause: Error): Promise<void> {
  try {
    await client.query(limited({ text: 'ROLLBACK' }));
    client.release();
  } catch {
    client.release(cause);
  }
}

/** A query of its own transaction that ends when the connection stays silent. */
function limited(config: QueryConfig): QueryConfig & { query_timeout: number } {
  return { ...config, query_timeout: queryLimitMs };
}

function toMessage(row: OutboxRow): OutboxMessage {
  return { msgId: row.msg_id, subject: row.subject, payload: row.payload };
}
