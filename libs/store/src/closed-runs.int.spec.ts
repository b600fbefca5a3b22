import { createDatabase, type TestDatabase } from '@intendant/testing';
import { ulid } from 'ulid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { given, record, start } from './given.spec-helper.js';
import { Store } from './store.js';

let database: TestDatabase;
let store: Store;
let other: Store;

beforeAll(async () => {
  database = await createDatabase();
  store = await Store.open({ url: database.url, name: 'closed-spec' });
  other = await Store.open({ url: database.url, name: 'closed-spec-2' });
});
afterAll(async () => {
  expect(await store.verify()).toEqual([]);
  await Promise.all([store.close(), other.close()]);
  await database.drop();
});

const run = {
  tenant: 'acme',
  user: 'ada',
  profile: 'interactive',
  permissions: ['*'],
  phase: null,
  openedBy: 'spec',
} as const;

async function opened(): Promise<string> {
  const { id } = await store.runs.open({ ...run, id: `run_${ulid()}` }, 60_000);
  return id;
}

/** Rows of an intent, and messages that say what became of it. */
async function traces(intentId: string): Promise<number> {
  const [row] = await database.query<{ n: number }>(
    `SELECT (SELECT count(*) FROM intents WHERE id = $1)::int + (SELECT count(*) FROM events WHERE intent_id = $1)::int
       + (SELECT count(*) FROM outbox WHERE msg_id LIKE $1 || '%')::int AS n`,
    [intentId],
  );
  return row?.n ?? -1;
}

const runClosed = { kind: 'rejected', reason: 'run_closed', intent: null };

describe('in a run that another process has closed', () => {
  test('nothing is recorded, and the caller is told why', async () => {
    const runId = await opened();
    expect((await store.door.execute(record({ runId }))).kind).toBe('accepted');
    await other.runs.close(runId, 'acme');
    const late = record({ runId });
    expect(await store.door.execute(late)).toEqual(runClosed);
    expect(await traces(late.intentId)).toBe(0);
  });

  test('nothing is recorded by several commands at once either, of one key or of many', async () => {
    const runId = await opened();
    await other.runs.close(runId, 'acme');
    const late = [record({ runId, key: 'one key' }), record({ runId, key: 'one key' }), record({ runId })];
    const results = await Promise.all(late.map((command) => store.door.execute(command)));
    expect(results).toEqual([runClosed, runClosed, runClosed]);
    for (const { intentId } of late) expect(await traces(intentId)).toBe(0);
  });

  test('what was recorded before is the answer to its repeat, and to nothing else', async () => {
    const runId = await opened();
    const first = record({ runId });
    await store.door.execute(first);
    await other.runs.close(runId, 'acme');
    const { key } = first.command.proposal;
    expect(await store.door.execute(record({ runId, key }))).toMatchObject({
      kind: 'unchanged',
      intent: { proposal: { intentId: first.intentId } },
    });
    const different = record({ runId, key, fingerprint: 'of other arguments' });
    expect(await store.door.execute(different)).toMatchObject({ kind: 'rejected', reason: expect.any(String) });
    expect(await traces(different.intentId)).toBe(0);
  });

  test('an intent that was recorded before goes on', async () => {
    const runId = await opened();
    const intentId = await given(store, 'authorized', { runId });
    await other.runs.close(runId, 'acme');
    expect(await store.door.execute(start(intentId))).toMatchObject({ intent: { state: 'dispatching' } });
  });
});

describe('a run that was recalled', () => {
  test('is not asked for again while it is remembered as open, and is told as closed where it was closed', async () => {
    const runId = await opened();
    expect(await store.runs.recall(runId)).toMatchObject({ id: runId, closed: false, permissions: ['*'] });
    await other.runs.close(runId, 'acme');
    expect(await store.runs.recall(runId), 'the door refuses it').toMatchObject({ closed: false });
    expect(await store.runs.find(runId)).toMatchObject({ closed: true });
    expect(await other.runs.recall(runId)).toMatchObject({ closed: true });
    await store.runs.close(runId, 'acme');
    expect(await store.runs.recall(runId)).toMatchObject({ closed: true });
  });

  test('and was not there is asked for again', async () => {
    const id = `run_${ulid()}`;
    expect(await store.runs.recall(id)).toBeNull();
    await other.runs.open({ ...run, id }, 60_000);
    expect(await store.runs.recall(id)).toMatchObject({ id, closed: false });
  });
});
