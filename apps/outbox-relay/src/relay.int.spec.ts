import { type Bus, connectBus, durables } from '@intendant/bus';
import { subjects } from '@intendant/contracts';
import { armFault, createLogger, parseFault } from '@intendant/runtime';
import { Store } from '@intendant/store';
import { createDatabase, type NatsServer, startNats, type TestDatabase } from '@intendant/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { Relay } from './relay.js';

const logger = createLogger('spec', 'silent');
let database: TestDatabase;
let nats: NatsServer;
let store: Store;
let bus: Bus;
let relay: Relay;

beforeAll(async () => {
  [database, nats] = await Promise.all([createDatabase(), startNats()]);
  store = await Store.open({ url: database.url, name: 'relay-spec', poolSize: 3 });
  bus = await connectBus({ url: nats.url, name: 'relay-spec' });
});
afterAll(async () => {
  await bus.close();
  await store.close();
  await database.drop();
  await nats.stop();
});
beforeEach(async () => {
  await database.query('DELETE FROM outbox');
  relay = new Relay(store, bus, logger, 0);
});
afterEach(() => armFault(null));

let written = 0;
const put = async (count: number, subject: string = subjects.dispatch) => {
  const ids = Array.from({ length: count }, () => {
    written += 1;
    return `message ${String(written).padStart(6, '0')}`;
  });
  await database.query("INSERT INTO outbox (msg_id, subject, payload) SELECT unnest($1::text[]), $2, '{}'", [
    ids,
    subject,
  ]);
  return ids;
};
const left = async () =>
  (await database.query<{ msg_id: string }>('SELECT msg_id FROM outbox ORDER BY created_at, msg_id')).map(
    (row) => row.msg_id,
  );
/** Messages in the stream of doorbells, none of which anybody has taken. */
const stored = () => bus.backlog(durables.dispatch);

describe('one batch', () => {
  test('carries messages to the bus and deletes them once they are acknowledged', async () => {
    const before = await stored();
    await put(5);
    expect(await relay.runOnce(3)).toBe(3);
    expect(await left()).toHaveLength(2);
    expect(await relay.runOnce(3)).toBe(2);
    expect(await relay.runOnce(3)).toBe(0);
    expect((await stored()) - before).toBe(5);
  });

  test('keeps what the bus refuses and delivers the rest', async () => {
    const [homeless] = await put(1, 'nobody.stores.this');
    const before = await stored();
    await put(2);
    expect(await relay.runOnce(10)).toBe(2);
    expect(await left()).toEqual([homeless]);
    expect((await stored()) - before).toBe(2);
    await expect(relay.runOnce(10)).rejects.toThrow('none of 1 messages could be published');
  });

  test.each(['relay.after_claim:1:throw', 'relay.after_publish:1:throw'])(
    'loses nothing and doubles nothing when it ends at %s',
    async (fault) => {
      const before = await stored();
      const ids = await put(3);
      armFault(parseFault(fault));
      await expect(relay.runOnce(10)).rejects.toThrow('fault at');
      expect(await left()).toEqual(ids);
      expect(await relay.runOnce(10)).toBe(3);
      expect(await left()).toEqual([]);
      expect((await stored()) - before).toBe(3);
    },
  );

  test('of two relays at once carries each message once', async () => {
    const before = await stored();
    await put(40);
    const other = new Relay(store, bus, logger, 0);
    const counts = await Promise.all([relay.runOnce(20), other.runOnce(20)]);
    expect(counts).toEqual([20, 20]);
    expect(await left()).toEqual([]);
    expect((await stored()) - before).toBe(40);
  });
});

describe('running', () => {
  test('delivers by itself', async () => {
    relay.start();
    for (let round = 0; round < 3; round += 1) {
      await put(600);
      await vi.waitFor(async () => expect(await left()).toEqual([]), { timeout: 5_000, interval: 20 });
    }
    await relay.stop();
    await put(1);
    expect(await left(), 'stopped').toHaveLength(1);
  });

  test('waits while the bus is away, and delivers when it is back with an empty store', async () => {
    const ids = await put(2);
    await nats.kill();
    await vi.waitFor(() => expect(bus.status()).toBe('reconnecting'), 5_000);
    relay.start();
    expect(await left()).toEqual(ids);
    nats.wipe();
    await nats.restart();
    await vi.waitFor(async () => expect(await left()).toEqual([]), { timeout: 20_000, interval: 50 });
    await relay.stop();
    expect(await stored()).toBe(2);
  });
});
