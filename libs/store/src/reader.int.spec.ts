import { createDatabase, type TestDatabase } from '@intendant/testing';
import { ulid } from 'ulid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { given } from './given.spec-helper.js';
import { Store } from './store.js';

let database: TestDatabase;
let store: Store;

beforeAll(async () => {
  database = await createDatabase();
  store = await Store.open({ url: database.url, name: 'reader-spec' });
});
afterAll(async () => {
  await store.close();
  await database.drop();
});

describe('loading', () => {
  test('gives each of many callers its own intent, and null where there is none', async () => {
    const known = await Promise.all(Array.from({ length: 20 }, () => given(store, 'authorized')));
    const asked = Array.from({ length: 600 }, (_, i) => known[i % 30] ?? ulid());
    const loaded = await Promise.all(asked.map((id) => store.intents.load(id)));
    expect(loaded.map((intent) => intent?.proposal.intentId ?? null)).toEqual(
      asked.map((id) => (known.includes(id) ? id : null)),
    );
  });

  test('folds the state from the log, not from the read model', async () => {
    const id = await given(store, 'unknown');
    await database.query("UPDATE intents SET state = 'failed', wake_at = NULL WHERE id = $1", [id]);
    expect(await store.intents.load(id)).toMatchObject({ state: 'unknown', cause: 'http_502', version: 4 });
  });
});

describe('the history', () => {
  test('tells every event in order with its time', async () => {
    const before = Date.now();
    const history = await store.intents.history(await given(store, 'committed'));
    expect(history.map(({ version, event }) => [version, event.type])).toEqual([
      [1, 'recorded'],
      [2, 'authorized'],
      [3, 'attempt_started'],
      [4, 'committed'],
    ]);
    expect(history.at(-1)?.event).toMatchObject({ proof: 'response', data: { refund_id: 're_1' } });
    for (const { at } of history) expect(Math.abs(Date.parse(at) - before)).toBeLessThan(60_000);
  });

  test('of no intent is empty', async () => {
    expect(await store.intents.history(ulid())).toEqual([]);
  });
});

describe('the list', () => {
  const tenant = 'listed';
  const run = `run_${ulid()}`;
  const list = async (filter: object) =>
    (await store.intents.list({ tenant, limit: 10, ...filter })).map((row) => row.intentId);
  let first = '';
  let second = '';
  let third = '';

  beforeAll(async () => {
    first = await given(store, 'authorized', { tenant, runId: run });
    second = await given(store, 'unknown', { tenant, tool: 'mail.send' });
    third = await given(store, 'committed', { tenant, runId: run });
    await given(store, 'authorized', { tenant: 'another' });
  });

  test('shows the newest first, and only the tenant that was asked for', async () => {
    expect(await list({})).toEqual([third, second, first].sort().reverse());
    expect((await store.intents.list({ limit: 100 })).some((row) => row.tenant === 'another')).toBe(true);
  });

  test('can be narrowed by run, state, tool and age, and by all of them at once', async () => {
    expect(await list({ state: 'unknown' })).toEqual([second]);
    expect(await list({ tool: 'mail.send' })).toEqual([second]);
    expect((await list({ runId: run })).sort()).toEqual([first, third].sort());
    expect(await list({ runId: run, state: 'committed' })).toEqual([third]);
    await database.query("UPDATE intents SET since = now() - interval '2 hours' WHERE id = $1", [first]);
    expect(await list({ olderThan: Date.now() - 3_600_000 })).toEqual([first]);
    expect(await list({ olderThan: Date.now() - 3_600_000, state: 'unknown' })).toEqual([]);
  });

  test('goes on where a page ended, without gap or repetition', async () => {
    const pages = [];
    for (let before: string | undefined; ; ) {
      const [id] = await list({ limit: 1, before });
      if (id === undefined) break;
      pages.push(id);
      before = id;
    }
    expect(pages).toEqual(await list({}));
  });

  test('says in a word why an intent is where it is', async () => {
    const [row] = await store.intents.list({ tenant, limit: 1, state: 'unknown' });
    expect(row).toMatchObject({ intentId: second, status: 'unknown', reason: 'http_502', attempts: 1, stepId: 's1' });
  });
});
