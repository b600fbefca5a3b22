import type { OutboxMessage } from '@intendant/contracts';
import { createDatabase, type TestDatabase } from '@intendant/testing';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { Store } from './store.js';

let database: TestDatabase;
let store: Store;

beforeAll(async () => {
  database = await createDatabase();
  store = await Store.open({ url: database.url, name: 'outbox-spec', poolSize: 2 });
});
afterAll(async () => {
  await store.close();
  await database.drop();
});
beforeEach(() => database.query('DELETE FROM outbox'));

const put = (count: number) =>
  database.query(
    "INSERT INTO outbox (msg_id, subject, payload) SELECT 'm' || i, 'a.subject', '{}' FROM generate_series(1, $1) AS i",
    [count],
  );
const left = async () =>
  (await database.query<{ msg_id: string }>('SELECT msg_id FROM outbox ORDER BY msg_id')).map((row) => row.msg_id);
const all = async (messages: readonly OutboxMessage[]) => new Set(messages.map((message) => message.msgId));
const relayAll = async (limit = 100) => {
  const seen: string[] = [];
  const relayed = await store.outbox.relay(limit, async (messages) => {
    seen.push(...messages.map((message) => message.msgId));
    return all(messages);
  });
  return { seen, relayed };
};

describe('the outbox', () => {
  test('hands out the oldest messages and deletes what was acknowledged', async () => {
    await put(3);
    expect(await relayAll(2)).toEqual({ seen: ['m1', 'm2'], relayed: { claimed: 2, published: 2 } });
    expect(await left()).toEqual(['m3']);
  });

  test('asks nobody to publish when there is nothing', async () => {
    const publish = vi.fn(all);
    expect(await store.outbox.relay(10, publish)).toEqual({ claimed: 0, published: 0 });
    expect(publish).not.toHaveBeenCalled();
  });

  test('tells for how long its oldest message has been waiting, one that a stuck relay holds included', async () => {
    expect(await store.outbox.oldestMs()).toBe(0);
    await put(3);
    await database.query("UPDATE outbox SET created_at = created_at - interval '1 minute' WHERE msg_id = 'm2'");
    const holder = await database.session();
    onTestFinished(() => holder.end());
    await holder.query('BEGIN');
    await holder.query('SELECT FROM outbox FOR UPDATE');
    const age = await store.outbox.oldestMs();
    expect(age).toBeGreaterThanOrEqual(60_000);
    expect(age).toBeLessThan(90_000);
  });

  test('keeps exactly the messages that were not acknowledged', async () => {
    await put(3);
    const relayed = await store.outbox.relay(10, async () => new Set(['m2', 'of somebody else']));
    expect(relayed).toEqual({ claimed: 3, published: 1 });
    expect(await left()).toEqual(['m1', 'm3']);
  });

  test('keeps everything when publishing throws, and gives its connection back', async () => {
    await put(2);
    const failing = () => store.outbox.relay(10, () => Promise.reject(new Error('the bus is away')));
    for (let i = 0; i < 4; i += 1) await expect(failing()).rejects.toThrow('the bus is away');
    expect((await relayAll()).seen).toEqual(['m1', 'm2']);
  });

  test('two relays at once share the messages without overlap', async () => {
    await put(6);
    let second: string[] = [];
    const first: string[] = [];
    await store.outbox.relay(3, async (messages) => {
      first.push(...messages.map((message) => message.msgId));
      second = (await relayAll(10)).seen;
      return all(messages);
    });
    expect(first).toEqual(['m1', 'm2', 'm3']);
    expect(second).toEqual(['m4', 'm5', 'm6']);
    expect(await left()).toEqual([]);
  });

  test('a connection that is killed in the middle leaves the messages, the pool and the process as they were', async () => {
    await put(2);
    for (let i = 0; i < 4; i += 1) {
      const killed = store.outbox.relay(10, async (messages) => {
        await killClaim();
        return all(messages);
      });
      await expect(killed).rejects.toThrow();
    }
    expect(await left()).toEqual(['m1', 'm2']);
    expect((await relayAll()).seen).toEqual(['m1', 'm2']);
  });

  test('a slow transaction hides nothing behind it, and what it wrote comes when it commits', async () => {
    const slow = new pg.Client({ connectionString: database.ownerUrl });
    await slow.connect();
    onTestFinished(() => slow.end());
    await slow.query('BEGIN');
    await slow.query("INSERT INTO outbox (msg_id, subject, payload) VALUES ('slow', 's', '{}')");
    await put(1);
    expect((await relayAll()).seen).toEqual(['m1']);
    await slow.query('COMMIT');
    expect((await relayAll()).seen).toEqual(['slow']);
  });
});

/** Ends the connection of the claim that is open, and waits until the client knows. */
async function killClaim(): Promise<void> {
  const rows = await database.query<{ pid: number }>(
    `SELECT pid FROM pg_stat_activity WHERE application_name = 'outbox-spec' AND state = 'idle in transaction'`,
  );
  await database.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid]);
  await vi.waitFor(async () => {
    expect(await database.query('SELECT FROM pg_stat_activity WHERE pid = $1', [rows[0]?.pid])).toHaveLength(0);
  });
  // The socket has said so by the time another round trip is over.
  await database.query('SELECT 1');
}
