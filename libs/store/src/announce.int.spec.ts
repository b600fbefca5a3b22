import type { OutboxMessage } from '@intendant/contracts';
import { createDatabase, startTcpProxy, type TestDatabase } from '@intendant/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { given } from './given.spec-helper.js';
import type { Publish } from './outbox.js';
import { Store } from './store.js';

let database: TestDatabase;
let store: Store;
/** What the bus was given, batch by batch. */
let batches: string[][];
/** What the bus does with the next batches. */
let bus: Publish;

const all: Publish = async (messages) => new Set(messages.map(({ msgId }) => msgId));
const open = (url = database.url) =>
  Store.open(
    { url, name: 'announce-spec' },
    {
      publish: (messages) => {
        batches.push(messages.map(({ msgId }) => msgId));
        return bus(messages);
      },
    },
  );

beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(async () => {
  await database.query('DELETE FROM outbox');
  batches = [];
  bus = all;
  store = await open();
});
afterEach(() => store.close());
afterAll(() => database.drop());

const message = (msgId: string): OutboxMessage => ({ msgId, subject: 'a.subject', payload: '{}' });
/** Rows as a commit leaves them. */
async function written(...ids: string[]): Promise<OutboxMessage[]> {
  await database.query("INSERT INTO outbox (msg_id, subject, payload) SELECT unnest($1::text[]), 'a.subject', '{}'", [
    ids,
  ]);
  return ids.map(message);
}
const left = async () =>
  (await database.query<{ msg_id: string }>('SELECT msg_id FROM outbox ORDER BY msg_id')).map((row) => row.msg_id);

/** A bus that answers when the test says so. */
function heldBus(): { asked: Promise<void>; answer: () => void } {
  let answer = (): void => undefined;
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const asked = new Promise<void>((resolve) => {
    bus = async (messages) => {
      resolve();
      await answered;
      return all(messages);
    };
  });
  return { asked, answer };
}

describe('what was committed here', () => {
  test('gathers, is published together and then deleted, by itself', async () => {
    const [one, two, three] = await written('m1', 'm2', 'm3');
    for (const each of [one, two, three]) if (each) store.outbox.announce([each]);
    expect(batches).toEqual([]);
    await vi.waitFor(async () => expect(await left()).toEqual([]), { timeout: 5_000, interval: 10 });
    expect(batches).toEqual([['m1', 'm2', 'm3']]);
  });

  test('by the door is announced by it', async () => {
    const intentId = await given(store, 'authorized');
    expect(await database.query('SELECT FROM outbox WHERE payload LIKE $1', [`%${intentId}%`])).toHaveLength(1);
    await store.outbox.flush();
    expect(batches.flat()).toHaveLength(1);
    expect(await left()).toEqual([]);
  });

  test('by a sweep is announced by it', async () => {
    const intentId = await given(store, 'authorized');
    await store.outbox.flush();
    batches = [];
    await database.query("UPDATE intents SET wake_at = clock_timestamp() - interval '1 minute' WHERE id = $1", [
      intentId,
    ]);
    expect(await store.sweeps.announceAgain(10)).toBe(1);
    await store.outbox.flush();
    expect(batches.flat()).toHaveLength(1);
    expect(await left()).toEqual([]);
  });

  test('is left to the relay where nobody publishes', async () => {
    const silent = await Store.open({ url: database.url, name: 'announce-spec' });
    silent.outbox.announce(await written('m1'));
    await silent.close();
    expect(await left()).toEqual(['m1']);
  });
});

describe('flushing', () => {
  test('publishes and deletes at once what has gathered', async () => {
    store.outbox.announce(await written('m1', 'm2'));
    await store.outbox.flush();
    expect(batches).toEqual([['m1', 'm2']]);
    expect(await left()).toEqual([]);
  });

  test('waits for what the bus has in hand already', async () => {
    const { asked, answer } = heldBus();
    store.outbox.announce(await written('m1'));
    await asked;
    let over = false;
    const flushing = store.outbox.flush().then(() => {
      over = true;
    });
    expect(await left()).toEqual(['m1']);
    expect(over).toBe(false);
    answer();
    await flushing;
    expect(await left()).toEqual([]);
  });

  test('is part of closing', async () => {
    store.outbox.announce(await written('m1', 'm2'));
    await store.close();
    expect(batches).toEqual([['m1', 'm2']]);
    expect(await left()).toEqual([]);
    store = await open();
  });

  test('asks nobody when there is nothing', async () => {
    await store.outbox.flush();
    store.outbox.announce([]);
    await store.outbox.flush();
    expect(batches).toEqual([]);
  });
});

describe('a row stays', () => {
  test('when the bus refuses its message, and only then', async () => {
    bus = async () => new Set(['m2']);
    store.outbox.announce(await written('m1', 'm2', 'm3'));
    await store.outbox.flush();
    expect(await left()).toEqual(['m1', 'm3']);
    bus = all;
    await store.outbox.flush();
    expect(batches, 'the relay is next').toHaveLength(1);
  });

  test('when publishing rejects, and what comes later is published', async () => {
    bus = () => Promise.reject(new Error('the bus is away'));
    store.outbox.announce(await written('m1', 'm2'));
    await store.outbox.flush();
    expect(await left()).toEqual(['m1', 'm2']);
    bus = all;
    store.outbox.announce(await written('m3'));
    await store.outbox.flush();
    expect(await left()).toEqual(['m1', 'm2']);
    expect(batches).toEqual([['m1', 'm2'], ['m3']]);
  });

  test('when the database is away at the time, and nothing else is disturbed', async () => {
    const proxy = await startTcpProxy(Number(new URL(database.url).port));
    onTestFinished(() => proxy.close());
    const remote = await open(proxy.through(database.url));
    onTestFinished(() => remote.close());
    const messages = await written('m1');
    proxy.partition();
    remote.outbox.announce(messages);
    await remote.outbox.flush();
    expect(batches).toEqual([['m1']]);
    expect(await left()).toEqual(['m1']);
    proxy.heal();
    remote.outbox.announce(await written('m2'));
    await remote.outbox.flush();
    expect(await left()).toEqual(['m1']);
  });
});

test('more than can be on the way is left to the relay, until there is room again', async () => {
  const { asked, answer } = heldBus();
  const many = Array.from({ length: 20_000 }, (_, i) => message(`many ${i}`));
  store.outbox.announce(many);
  await asked;
  const [over, later] = await written('over', 'later');
  if (!over || !later) throw new Error('nothing was written');
  store.outbox.announce([over]);
  answer();
  await store.outbox.flush();
  expect(await left()).toEqual(['later', 'over']);
  store.outbox.announce([later]);
  await store.outbox.flush();
  expect(await left()).toEqual(['over']);
  expect(batches.map((batch) => batch.length)).toEqual([20_000, 1]);
});

test('room is made again by messages that the bus did not take', async () => {
  const many = (name: string) => Array.from({ length: 20_000 }, (_, i) => message(`${name} ${i}`));
  bus = () => Promise.reject(new Error('the bus is away'));
  store.outbox.announce(many('refused'));
  await store.outbox.flush();
  bus = all;
  store.outbox.announce(many('taken'));
  await store.outbox.flush();
  expect(batches.map((batch) => batch[0])).toEqual(['refused 0', 'taken 0']);
});

test('a row that a relay has claimed is not waited for', async () => {
  const messages = await written('m1', 'm2');
  const relayed = await store.outbox.relay(1, async (claimed) => {
    store.outbox.announce(messages);
    await store.outbox.flush();
    expect(await left(), 'the row that nobody has claimed is gone').toEqual(['m1']);
    return all(claimed);
  });
  expect(relayed).toEqual({ claimed: 1, published: 1 });
  expect(await left()).toEqual([]);
});

test('a relay leaves young messages to whoever committed them', async () => {
  await written('young', 'old');
  await database.query("UPDATE outbox SET created_at = created_at - interval '1 minute' WHERE msg_id = 'old'");
  expect(await store.outbox.relay(10, all, 30_000)).toEqual({ claimed: 1, published: 1 });
  expect(await left()).toEqual(['young']);
});
