import type { Ring } from '@intendant/contracts';
import { createDatabase, type TestDatabase } from '@intendant/testing';
import pg from 'pg';
import { ulid } from 'ulid';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { due, given, report, start, terms } from './given.spec-helper.js';
import { Store } from './store.js';

let database: TestDatabase;
let store: Store;

beforeAll(async () => {
  database = await createDatabase();
  store = await Store.open({ url: database.url, name: 'sweeps-spec' });
});
afterAll(async () => {
  await store.close();
  await database.drop();
});
beforeEach(async () => {
  await database.query('DELETE FROM intents');
  await database.query('DELETE FROM outbox');
});

const several = (count: number, state: 'authorized' | 'dispatching' | 'unknown') =>
  Promise.all(Array.from({ length: count }, () => given(store, state)));
const ids = (found: readonly { intentId: string }[]) => found.map(({ intentId }) => intentId);
const bells = async () =>
  (await database.query<{ payload: string }>('SELECT payload FROM outbox ORDER BY created_at, msg_id')).map(
    (row) => JSON.parse(row.payload) as Ring,
  );

describe('what is due', () => {
  test('is what is in the state and whose time has come', async () => {
    const [now = '', later = ''] = await several(2, 'unknown');
    await due(database, [now]);
    await due(database, [later], -60_000);
    await due(database, await several(1, 'dispatching'));
    expect(ids(await store.sweeps.claimDue('unknown', 10, 60_000))).toEqual([now]);
  });

  test('goes to two sweepers in different parts', async () => {
    const all = await several(10, 'unknown');
    await due(database, all);
    const [one, two] = await Promise.all([
      store.sweeps.claimDue('unknown', 5, 60_000),
      store.sweeps.claimDue('unknown', 5, 60_000),
    ]);
    expect([...ids(one), ...ids(two)].sort()).toEqual([...all].sort());
  });

  test('passes by what another sweeper has in hand, without waiting for it', async () => {
    const [taken = '', free = ''] = await several(2, 'unknown');
    await due(database, [taken, free]);
    const other = new pg.Client({ connectionString: database.ownerUrl });
    await other.connect();
    onTestFinished(() => other.end());
    await other.query('BEGIN');
    await other.query('SELECT FROM intents WHERE id = $1 FOR UPDATE', [taken]);
    expect(ids(await store.sweeps.claimDue('unknown', 10, 60_000))).toEqual([free]);
    await other.query('ROLLBACK');
    expect(ids(await store.sweeps.claimDue('unknown', 10, 60_000))).toEqual([taken]);
  });

  test('stays away for the time of the claim and comes back after it', async () => {
    const [id = ''] = await several(1, 'unknown');
    await due(database, [id]);
    expect(await store.sweeps.claimDue('unknown', 10, 200)).toHaveLength(1);
    expect(await store.sweeps.claimDue('unknown', 10, 200)).toHaveLength(0);
    await vi.waitFor(async () => expect(await store.sweeps.claimDue('unknown', 10, 60_000)).toHaveLength(1), 5_000);
  });

  test('comes longest due first', async () => {
    const [a = '', b = '', c = ''] = await several(3, 'unknown');
    await due(database, [b], 3_000);
    await due(database, [c], 2_000);
    await due(database, [a], 1_000);
    const order: string[] = [];
    for (let i = 0; i < 3; i += 1) order.push(...ids(await store.sweeps.claimDue('unknown', 1, 60_000)));
    expect(order).toEqual([b, c, a]);
  });

  test('says when it was claimed on the database clock, never later than that', async () => {
    await due(database, await several(1, 'unknown'));
    const [claimed] = await store.sweeps.claimDue('unknown', 1, 60_000);
    const [clock] = await database.query<{ ms: number }>(
      'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms',
    );
    expect(claimed?.claimedAt).toBeLessThanOrEqual(clock?.ms ?? 0);
    expect(claimed?.claimedAt).toBeGreaterThan((clock?.ms ?? 0) - 10_000);
  });

  test('includes an attempt as soon as its lease has ended', async () => {
    const id = await given(store, 'dispatching', { terms: terms({ leaseMs: 1 }) });
    await given(store, 'dispatching');
    await vi.waitFor(async () => expect(ids(await store.sweeps.claimDue('dispatching', 9, 60_000))).toEqual([id]));
  });
});

describe('announcing again', () => {
  test('rings for authorized intents that nobody took, and not again right away', async () => {
    const [id = '', other = ''] = await several(2, 'authorized');
    await database.query('DELETE FROM outbox');
    await due(database, [id]);
    expect(await store.sweeps.announceAgain(10)).toBe(1);
    expect(await bells()).toEqual([
      { intents: [{ id, version: 2, tool: 'payments.refund.create', toolVersion: 1, sandbox: false }] },
    ]);
    expect(await store.sweeps.announceAgain(10)).toBe(0);
    expect(other).not.toBe(id);
  });

  test('rings the more rarely the longer an intent has been waiting, and every minute at least', async () => {
    const ids = await several(3, 'authorized');
    const ages = ['1 second', '20 seconds', '1 hour'];
    for (const [i, age] of ages.entries()) {
      await database.query(`UPDATE intents SET since = now() - $2::interval WHERE id = $1`, [ids[i], age]);
    }
    await due(database, ids);
    await store.sweeps.announceAgain(10);
    const rows = await database.query<{ seconds: number }>(
      'SELECT round(extract(epoch FROM wake_at - now()))::int AS seconds FROM intents WHERE id = ANY ($1) ORDER BY since DESC',
      [ids],
    );
    expect(rows.map((row) => row.seconds)).toEqual([5, 20, 60]);
    await database.query('UPDATE intents SET since = recorded_at WHERE id = ANY ($1)', [ids]);
  });

  test('never rings so late that an intent would outlive its run unnoticed', async () => {
    const over = await given(store, 'authorized', { expiresAt: Date.now() + 1_500 });
    await database.query("UPDATE intents SET since = now() - interval '1 hour' WHERE id = $1", [over]);
    await due(database, [over]);
    await store.sweeps.announceAgain(10);
    const [row] = await database.query<{ ok: boolean }>(
      'SELECT wake_at <= expires_at AS ok FROM intents WHERE id = $1',
      [over],
    );
    expect(row?.ok).toBe(true);
    await database.query('UPDATE intents SET since = recorded_at WHERE id = $1', [over]);
  });

  test('waits until an intent that was held back may be sent', async () => {
    const id = await given(store, 'authorized', { terms: terms({ backoffMs: 60_000 }) });
    await store.door.execute(start(id, 'refused'));
    const busy = {
      kind: 'not_executed',
      cause: 'http_429',
      transient: true,
      retryAfterMs: null,
      detail: 'later',
    } as const;
    await store.door.execute(report(id, 'refused', busy));
    await database.query('DELETE FROM outbox');
    expect(await store.sweeps.announceAgain(10)).toBe(0);
    await due(database, [id]);
    expect(await store.sweeps.announceAgain(10)).toBe(1);
  });

  test('does not keep an intent whose authority has ended from expiring', async () => {
    const over = await given(store, 'authorized', { expiresAt: Date.now() - 1_000 });
    await due(database, [over]);
    expect(await store.sweeps.announceAgain(10)).toBe(0);
    expect(await store.sweeps.expired(10)).toEqual([over]);
  });

  test('puts at most a hundred intents into one doorbell', async () => {
    const all = await several(101, 'authorized');
    await database.query('DELETE FROM outbox');
    await due(database, all);
    expect(await store.sweeps.announceAgain(200)).toBe(101);
    const rung = await bells();
    expect(rung.map((ring) => ring.intents.length).sort()).toEqual([1, 100]);
    expect(rung.flatMap((ring) => ring.intents.map((intent) => intent.id)).sort()).toEqual([...all].sort());
  });
});

test('authority has ended for authorized intents whose run is over, and for no others', async () => {
  const over = await given(store, 'authorized', { expiresAt: Date.now() - 1_000 });
  await given(store, 'authorized');
  await given(store, 'dispatching');
  await database.query("UPDATE intents SET expires_at = now() - interval '1 hour' WHERE state = 'dispatching'");
  expect(await store.sweeps.expired(10)).toEqual([over]);
  expect(await store.sweeps.expired(0)).toEqual([]);
});

test('partitions are made once', async () => {
  await store.sweeps.ensureEventPartitions();
  expect(await store.sweeps.ensureEventPartitions()).toBe(0);
});

test('the oldest unknown outcome is told by how long it has been so; other states do not count', async () => {
  expect(await store.sweeps.oldestUnknownMs()).toBe(0);
  const [old = ''] = await several(2, 'unknown');
  const [open = ''] = await several(1, 'dispatching');
  const since = "UPDATE intents SET since = clock_timestamp() - $2::float8 * interval '1 minute' WHERE id = $1";
  await database.query(since, [old, 2]);
  await database.query(since, [open, 5]);
  const age = await store.sweeps.oldestUnknownMs();
  expect(age).toBeGreaterThanOrEqual(120_000);
  expect(age).toBeLessThan(180_000);
});

test('identifiers are forgotten once no run can use them any more, some at a time', async () => {
  const of = (ageHours: number) => `run_${ulid(Date.now() - ageHours * 3_600_000)}`;
  const [old, older, fresh] = [of(49), of(500), of(47)];
  for (const run of [old, older, fresh]) {
    await database.query("INSERT INTO yields (run_id, digest, source) VALUES ($1, 'a', 's'), ($1, 'b', 's')", [run]);
  }
  expect(await store.sweeps.pruneYields(3)).toBe(3);
  expect(await store.sweeps.pruneYields()).toBe(1);
  expect(await store.sweeps.pruneYields()).toBe(0);
  expect(await database.query('SELECT DISTINCT run_id FROM yields')).toEqual([{ run_id: fresh }]);
});
