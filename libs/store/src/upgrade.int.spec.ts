import type { Verdict } from '@intendant/intent';
import { migrationDataSource } from '@intendant/migrations';
import { createDatabase, type TestDatabase } from '@intendant/testing';
import { ulid } from 'ulid';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { given, record, report, start } from './given.spec-helper.js';
import { Store } from './store.js';

let database: TestDatabase;
let store: Store;

beforeAll(async () => {
  database = await createDatabase();
  store = await Store.open({ url: database.url, name: 'upgrade-spec' });
});
afterAll(async () => {
  await store.close();
  await database.drop();
});

const refused: Verdict = {
  kind: 'not_executed',
  cause: 'http_422',
  detail: 'no',
  transient: false,
  retryAfterMs: null,
};
const unsent: Verdict = { ...refused, sent: false };

/** One whose only attempt came to this, and whose late evidence, if any, says that it did happen. */
async function ended(verdict: Verdict, late = false): Promise<void> {
  const intentId = await given(store, 'authorized');
  const attemptId = ulid();
  await store.door.execute(start(intentId, attemptId));
  await store.door.execute(report(intentId, attemptId, verdict));
  if (late) await store.door.execute(report(intentId, attemptId, { kind: 'executed', data: {} }));
}

test('intents from before budgets take what they have taken', async () => {
  for (const state of ['authorized', 'dispatching', 'unknown', 'committed'] as const) await given(store, state);
  await ended(refused);
  await ended(unsent);
  await ended(refused, true);
  await store.door.execute({ intentId: await given(store, 'authorized'), command: { type: 'cancel', by: 'ada' } });
  const failure = { code: 'permission_denied', message: 'no', details: {} };
  const denied = record();
  await store.door.execute({ ...denied, command: { ...denied.command, ruling: { allow: false, failure } } });
  expect(await store.verify()).toEqual([]);

  const source = await migrationDataSource(database.ownerUrl).initialize();
  await source.undoLastMigration();
  await source.runMigrations();
  await source.destroy();

  expect(await store.verify()).toEqual([]);
  const rows = await database.query<{ calls: number; held: boolean }>('SELECT calls, held FROM intents ORDER BY id');
  expect(rows.map(({ calls }) => calls)).toEqual([1, 1, 1, 1, 1, 0, 1, 0, 0]);
  expect(rows.map(({ held }) => held)).toEqual([true, true, true, true, false, false, true, false, false]);
});
