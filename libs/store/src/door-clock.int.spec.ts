import { clockToleranceMs } from '@intendant/contracts';
import { createDatabase, type TestDatabase } from '@intendant/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DatabaseClock } from './database-clock.js';
import { given, record, start, terms } from './given.spec-helper.js';
import { Store } from './store.js';

let database: TestDatabase;
let store: Store;

beforeAll(async () => {
  database = await createDatabase();
  store = await Store.open({ url: database.url, name: 'clock-spec' });
});
afterAll(async () => {
  expect(await store.verify()).toEqual([]);
  await store.close();
  await database.drop();
});

const leaseMs = 5_000;

/** Makes the door believe that it is `ms` later than it is. */
async function mistake(ms: number): Promise<void> {
  const { clock } = store.door as unknown as { clock: DatabaseClock };
  clock.set((await databaseTime()) + ms);
}

async function databaseTime(): Promise<number> {
  const [row] = await database.query<{ now: number }>(
    'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now',
  );
  return row?.now ?? 0;
}

/** The times of an intent, by the log and by the read model. */
async function timesOf(intentId: string): Promise<{ logged: number; recordedAt: number; lease: number; row: number }> {
  const [times] = await database.query<{ logged: number; recordedAt: number; lease: number; row: number }>(
    `SELECT (extract(epoch FROM e.recorded_at) * 1000)::float8 AS logged,
       (extract(epoch FROM i.recorded_at) * 1000)::float8 AS "recordedAt",
       (e.data->>'leaseUntil')::float8 AS lease, (extract(epoch FROM i.lease_until) * 1000)::float8 AS row
     FROM events AS e JOIN intents AS i ON i.id = e.intent_id WHERE e.intent_id = $1 ORDER BY e.version DESC LIMIT 1`,
    [intentId],
  );
  if (!times) throw new Error(`no intent ${intentId}`);
  return times;
}

function within(time: number, from: number, until: number): void {
  expect(time).toBeGreaterThanOrEqual(from - clockToleranceMs);
  expect(time).toBeLessThanOrEqual(until + clockToleranceMs);
}

const minute = 60_000;

describe.each([
  ['a minute behind', -minute],
  ['a minute ahead', minute],
  ['an hour behind', -60 * minute],
  ['two seconds behind', -2_000],
  ['two seconds ahead', 2_000],
])('a clock that is %s', (_, ms) => {
  test('records an intent at the time that it is', async () => {
    const command = record();
    await mistake(ms);
    const from = await databaseTime();
    expect((await store.door.execute(command)).kind).toBe('accepted');
    const { logged, recordedAt } = await timesOf(command.intentId);
    within(logged, from, await databaseTime());
    within(recordedAt, from, await databaseTime());
  });

  test('starts an attempt whose lease is right by the clock of the database, and not over', async () => {
    const intentId = await given(store, 'authorized', { terms: terms({ leaseMs }) });
    const known = await store.intents.load(intentId);
    await mistake(ms);
    const from = await databaseTime();
    const result = await store.door.execute({ ...start(intentId), ...(known && { known }) });
    expect(result).toMatchObject({ kind: 'accepted', intent: { state: 'dispatching' } });
    const { logged, lease, row } = await timesOf(intentId);
    within(logged, from, await databaseTime());
    within(lease, from + leaseMs, (await databaseTime()) + leaseMs);
    expect(row).toBe(lease);
    expect(lease).toBeGreaterThan(await databaseTime());
  });
});

test('an intent whose time is over is not started by a clock that is behind', async () => {
  const intentId = await given(store, 'authorized', { expiresAt: Math.ceil(await databaseTime()) + 1 });
  const known = await store.intents.load(intentId);
  await mistake(-minute);
  const result = await store.door.execute({ ...start(intentId), ...(known && { known }) });
  expect(result.intent?.state).toBe('expired');
});

test('times of one intent never go back, when the process that changed it last was a little ahead', async () => {
  await mistake(clockToleranceMs - 200);
  const intentId = await given(store, 'authorized');
  const before = await timesOf(intentId);
  const known = await store.intents.load(intentId);
  await mistake(0);
  const { intent } = await store.door.execute({ ...start(intentId), ...(known && { known }) });
  expect(intent?.since).toBeGreaterThanOrEqual(before.logged);
});
