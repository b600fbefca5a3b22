import { createDatabase, type TestDatabase } from '@intendant/testing';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import type { NewPause } from './pauses.js';
import { Store } from './store.js';

let database: TestDatabase;
let store: Store;
beforeAll(async () => {
  database = await createDatabase();
  store = await Store.open({ url: database.url, name: 'pauses-spec' });
});
afterEach(async () => {
  vi.restoreAllMocks();
  for (const { id } of await store.pauses.list(undefined)) await store.pauses.end(id, 'olga', null);
});
afterAll(async () => {
  await store.close();
  await database.drop();
});

const refunds: NewPause = {
  ...{ tenant: null, tool: 'payments.refund.create', namespace: null, upstream: null },
  ...{ reason: 'maintenance', author: 'olga', authorTenant: null, forMs: null },
};
const rowOf = async (id: string) =>
  (
    await database.query<{ ended_by: string | null; ended: boolean }>(
      'SELECT ended_by, ended_at IS NOT NULL AS ended FROM pauses WHERE id = $1',
      [id],
    )
  )[0];
const idsOf = async (tenant?: string) => (await store.pauses.list(tenant)).map(({ id }) => id);

it('is replaced by one of the same scope, and who began and who ended it stays on record', async () => {
  const first = await store.pauses.begin({ ...refunds, forMs: 3_600_000 });
  const second = await store.pauses.begin({ ...refunds, author: 'otto', reason: 'longer' });
  expect(second).toMatchObject({ author: 'otto', reason: 'longer', until: null });
  expect(await idsOf()).toEqual([second.id]);
  expect(await rowOf(first.id)).toEqual({ ended_by: 'otto', ended: true });
});

it('that ended by itself is another one than the next of its scope', async () => {
  const first = await store.pauses.begin({ ...refunds, forMs: 1 });
  await vi.waitUntil(async () => (await idsOf()).length === 0);
  const second = await store.pauses.begin(refunds);
  expect(second.id).not.toBe(first.id);
  expect(await store.pauses.end(first.id, 'olga', null)).toBeNull();
  expect(await rowOf(first.id)).toEqual({ ended_by: null, ended: false });
  expect(await idsOf()).toEqual([second.id]);
});

it('is neither replaced nor ended by whoever works for one tenant, where somebody who works for all began it', async () => {
  const acme = { ...refunds, tenant: 'acme' };
  const platform = await store.pauses.begin(acme);
  const own = await store.pauses.begin({ ...acme, author: 'tom', authorTenant: 'acme', forMs: 60_000 });
  expect(await idsOf('acme')).toEqual([platform.id, own.id]);
  expect(await idsOf('globex')).toEqual([]);
  expect(await store.pauses.end(platform.id, 'tom', 'acme')).toBeNull();
  expect(await store.pauses.end(own.id, 'tom', 'acme')).toMatchObject({ id: own.id });
  expect(await idsOf('acme')).toEqual([platform.id]);
});

it('is known for a second, then asked for again, by many at once with one look', async () => {
  let now = performance.now() + 60_000;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  expect(await store.pauses.current()).toEqual([]);
  const begun = await store.pauses.begin(refunds);
  now += 1_000;
  expect(await store.pauses.current()).toEqual([]);
  now += 1;
  const seen = await Promise.all(Array.from({ length: 5 }, () => store.pauses.current()));
  expect(seen).toEqual(seen.map(() => [begun]));
  expect(new Set(seen).size).toBe(1);
});

it('that takes longer than a second to read is taken as it is', async () => {
  let now = performance.now() + 120_000;
  // Each look at the clock, and so each read, takes three seconds.
  vi.spyOn(performance, 'now').mockImplementation(() => {
    now += 3_000;
    return now;
  });
  const begun = await store.pauses.begin(refunds);
  expect(await store.pauses.current()).toEqual([begun]);
});
