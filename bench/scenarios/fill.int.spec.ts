import { Store } from '@intendant/store';
import { createDatabase, proposal, type TestDatabase } from '@intendant/testing';
import type { QueryResultRow } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type FillSession, fill } from './fill.js';

let database: TestDatabase;
let store: Store;

beforeAll(async () => {
  database = await createDatabase();
  store = await Store.open({ url: database.url, name: 'fill-spec' });
});
afterAll(async () => {
  await store.close();
  await database.drop();
});

async function commitOne(i: number): Promise<void> {
  const made = proposal({ args: { order_id: `ord_${i}` } });
  const { intentId } = made;
  const attemptId = `attempt-${i}`;
  const verdict = { kind: 'executed', data: { effect_id: `eff_${i}` } } as const;
  await store.door.execute({ intentId, command: { type: 'record', proposal: made, ruling: { allow: true } } });
  await store.door.execute({ intentId, command: { type: 'start_attempt', attemptId } });
  await store.door.execute({ intentId, command: { type: 'record_verdict', attemptId, verdict, jitter: 0 } });
  await store.runs.open({ id: made.runId, ...owner, permissions: [] }, 60_000);
}
const owner = { tenant: 'acme', user: 'ada', profile: 'batch', phase: null, openedBy: 'bot' } as const;

test('copies of recorded intents are whole histories of their own, spread over past months', async () => {
  await Promise.all(Array.from({ length: 60 }, (_, i) => commitOne(i)));
  const session = await database.session();
  const filling: FillSession = {
    query: async <Row extends QueryResultRow>(text: string) => (await session.query<Row>(text)).rows,
    prepare: async () => void (await session.query('VACUUM (ANALYZE)')),
  };
  const { intents } = await fill(filling, 3_000, () => undefined);
  await session.end();

  expect(intents).toBe(3_000);
  const [counted] = await database.query<{ intents: number; runs: number; events: number }>(
    `SELECT (SELECT count(*)::int FROM intents WHERE state = 'committed') AS intents,
       (SELECT count(*)::int FROM events) AS events,
       (SELECT count(*)::int FROM runs WHERE closed_at IS NOT NULL) AS runs`,
  );
  expect(counted).toEqual({ intents: 3_060, events: 3_060 * 4, runs: 3_000 / 20 });
  expect(await store.verify()).toEqual([]);
  const months = await database.query('SELECT DISTINCT tableoid FROM events');
  expect(months.length).toBeGreaterThan(4);
  const names = await database.query<{ conname: string }>(
    "SELECT conname FROM pg_constraint WHERE conname = 'one_intent_per_key'",
  );
  expect(names).toHaveLength(1);
});
