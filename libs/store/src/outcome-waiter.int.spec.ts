import { createDatabase, type TestDatabase } from '@intendant/testing';
import { ulid } from 'ulid';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { given, report, start } from './given.spec-helper.js';
import { OutcomeWaiter } from './outcome-waiter.js';
import { Store } from './store.js';

let database: TestDatabase;
let store: Store;
/** Another process, as far as the one that waits can tell. */
let elsewhere: Store;

beforeAll(async () => {
  database = await createDatabase();
  store = await Store.open({ url: database.url, name: 'waiter-spec' });
  elsewhere = await Store.open({ url: database.url, name: 'waiter-spec-elsewhere' });
});
afterAll(async () => {
  await store.close();
  await elsewhere.close();
  await database.drop();
});
afterEach(() => expect(listeners(store.outcomes), 'nobody is left in the waiting room').toBe(0));

const listeners = (waiter: OutcomeWaiter) => waiter['waiting'].size;
const commit = (intentId: string) =>
  elsewhere.door.execute(report(intentId, 'the attempt', { kind: 'executed', data: { ok: true } }));
const dispatching = async () => {
  const intentId = await given(store, 'authorized');
  await store.door.execute(start(intentId, 'the attempt'));
  return intentId;
};
async function timed<T>(work: Promise<T>): Promise<{ value: T; ms: number }> {
  const from = performance.now();
  return { value: await work, ms: performance.now() - from };
}

describe('waiting for an outcome', () => {
  test('returns at once what has one, and null where there is no such intent', async () => {
    expect(await store.outcomes.wait(await given(store, 'committed'), 20_000)).toMatchObject({ state: 'committed' });
    expect(await store.outcomes.wait(ulid(), 20_000)).toBeNull();
  });

  test('ends with the notice, for everybody who waits', async () => {
    const id = await dispatching();
    const waiting = [timed(store.outcomes.wait(id, 20_000)), timed(store.outcomes.wait(id, 20_000))];
    await commit(id);
    store.outcomes.notify([ulid(), id]);
    for (const { value, ms } of await Promise.all(waiting)) {
      expect(value).toMatchObject({ state: 'committed' });
      expect(ms, 'earlier than the first poll').toBeLessThan(900);
    }
  });

  test('ends without a notice, too', async () => {
    const id = await dispatching();
    const waiting = store.outcomes.wait(id, 20_000);
    await commit(id);
    expect(await waiting).toMatchObject({ state: 'committed' });
  });

  test('goes on when a notice tells of a change that is no outcome', async () => {
    const id = await given(store, 'authorized');
    const waiting = store.outcomes.wait(id, 20_000);
    await store.door.execute(start(id, 'the attempt'));
    store.outcomes.notify([id]);
    await commit(id);
    store.outcomes.notify([id]);
    expect(await waiting).toMatchObject({ state: 'committed' });
  });

  test('gives the intent as it stands when the time is over', async () => {
    const { value, ms } = await timed(store.outcomes.wait(await dispatching(), 100));
    expect(value).toMatchObject({ state: 'dispatching' });
    expect(ms).toBeGreaterThanOrEqual(99);
    expect(ms, 'not a whole poll later').toBeLessThan(900);
  });

  test('ends when the caller goes away', async () => {
    const leave = new AbortController();
    const waiting = timed(store.outcomes.wait(await dispatching(), 20_000, { signal: leave.signal }));
    leave.abort();
    expect((await waiting).value).toMatchObject({ state: 'dispatching' });
    expect(await store.outcomes.wait(await dispatching(), 20_000, { signal: leave.signal })).toMatchObject({
      state: 'dispatching',
    });
  });

  test('takes what this process committed itself as it is, without looking', async () => {
    const blind = await Store.open({ url: database.url, name: 'waiter-spec-blind' });
    const known = await blind.intents.load(await dispatching());
    if (!known) throw new Error('recorded just now');
    const waiting = blind.outcomes.wait(known.proposal.intentId, 20_000, { known });
    // Nothing can be looked up any more.
    await blind.close();
    await commit(known.proposal.intentId);
    const settled = await store.intents.load(known.proposal.intentId);
    blind.outcomes.tell(settled ? [settled] : []);
    expect(await waiting).toBe(settled);
    expect(listeners(blind.outcomes)).toBe(0);
  });

  test('hears of the commits of its own door', async () => {
    const id = await dispatching();
    const waiting = timed(store.outcomes.wait(id, 20_000));
    await store.intents.load(id);
    await store.door.execute(report(id, 'the attempt', { kind: 'executed', data: { ok: true } }));
    const { value, ms } = await waiting;
    expect(value).toMatchObject({ state: 'committed' });
    expect(ms, 'before the first poll').toBeLessThan(120);
  });

  test('fails when the database does, and leaves nothing behind', async () => {
    const other = await Store.open({ url: database.url, name: 'waiter-spec-2' });
    await other.close();
    await expect(other.outcomes.wait(ulid(), 20_000)).rejects.toThrow();
    expect(listeners(other.outcomes)).toBe(0);
  });
});

test('a caller that leaves late does not unhook one that came after it', async () => {
  const waiter = new OutcomeWaiter(store.intents);
  const late = waiter['listen']('the intent', 1);
  await late.promise;
  const next = waiter['listen']('the intent', 60_000);
  late.cancel();
  waiter.notify(['the intent']);
  await next.promise;
  expect(listeners(waiter)).toBe(0);
});
