import type { OutboxMessage } from '@intendant/contracts';
import type { Pool, PoolClient } from 'pg';
import { claimOutbox, deleteOutbox, type OutboxRow } from './sql/outbox.js';

export interface Relayed {
  readonly claimed: number;
  readonly published: number;
}

/** Messages on their way to the bus. Their order means nothing: consumers reload the intent. */
export class Outbox {
  constructor(private readonly pool: Pool) {}

  /**
   * Claims up to `limit` messages, hands them to `publish` and deletes those it names as acknowledged, in one
   * transaction. Dying anywhere in it leaves the messages for the next relay: published twice, never lost.
   */
  async relay(
    limit: number,
    publish: (messages: readonly OutboxMessage[]) => Promise<ReadonlySet<string>>,
  ): Promise<Relayed> {
    const client = await this.pool.connect();
    // The connection may die while nothing is asked over it; without a listener that ends the process.
    client.on('error', ignore);
    try {
      await client.query('BEGIN');
      const { rows } = await client.query<OutboxRow>({ ...claimOutbox, values: [limit] });
      const published = rows.length === 0 ? new Set<string>() : await publish(rows.map(toMessage));
      const done = rows.filter((row) => published.has(row.msg_id));
      if (done.length > 0) await client.query({ ...deleteOutbox, values: [done.map((row) => row.position)] });
      await client.query('COMMIT');
      client.off('error', ignore);
      client.release();
      return { claimed: rows.length, published: done.length };
    } catch (error) {
      await abandon(client, error as Error);
      throw error;
    }
  }
}

/** A client whose rollback failed is of unknown state and must not go back to the pool. */
async function abandon(client: PoolClient, cause: Error): Promise<void> {
  try {
    await client.query('ROLLBACK');
    client.off('error', ignore);
    client.release();
  } catch {
    client.release(cause);
  }
}

function ignore(): void {
  // The query that follows fails and says why.
}

function toMessage(row: OutboxRow): OutboxMessage {
  return { msgId: row.msg_id, subject: row.subject, payload: row.payload };
}
