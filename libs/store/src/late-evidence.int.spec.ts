import type { Verdict } from '@intendant/intent';
import { createDatabase, type TestDatabase } from '@intendant/testing';
import { ulid } from 'ulid';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { LateEvidence } from './batch.js';
import { record, report, start } from './given.spec-helper.js';
import { Store } from './store.js';

let database: TestDatabase;
let store: Store;
const alarms: LateEvidence[] = [];

beforeAll(async () => {
  database = await createDatabase();
  store = await Store.open({ url: database.url, name: 'late-evidence' }, { corrected: (late) => alarms.push(late) });
});
afterAll(async () => {
  await store.close();
  await database.drop();
});

const refused: Verdict = { kind: 'not_executed', cause: 'http_422', transient: false, retryAfterMs: null, detail: '' };
const executed: Verdict = { kind: 'executed', data: { refund_id: 're_1' } };

/** An intent that failed, and the command by which its success is told too late. */
async function failed() {
  const { intentId, command } = record();
  const attemptId = ulid();
  await store.door.execute({ intentId, command });
  await store.door.execute(start(intentId, attemptId));
  await store.door.execute(report(intentId, attemptId, refused));
  alarms.length = 0;
  return { commandId: ulid(), ...report(intentId, attemptId, executed) };
}

test('a success after the failure raises one alarm, which says how the intent stands', async () => {
  const late = await failed();
  await store.door.execute(late);
  expect(alarms).toMatchObject([{ event: { finding: 'executed' }, intent: { state: 'failed' } }]);
  await store.door.execute({ ...late, commandId: ulid() });
  expect(alarms, 'told a second time').toHaveLength(1);
});

test('the alarm is raised by whoever finds that the commit went through, when its answer was lost', async () => {
  const late = await failed();
  const silent = await Store.open({ url: database.url, name: 'late-evidence, before' });
  await silent.door.execute(late);
  await silent.close();
  expect(alarms).toEqual([]);
  await store.door.execute(late);
  expect(alarms).toMatchObject([{ event: { finding: 'executed' }, intent: { state: 'failed' } }]);
});
