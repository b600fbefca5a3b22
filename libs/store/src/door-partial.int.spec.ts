import type { Commit } from '@intendant/contracts';
import { createDatabase, type TestDatabase } from '@intendant/testing';
import { ulid } from 'ulid';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { given, record, start, terms } from './given.spec-helper.js';
import { Store } from './store.js';

let database: TestDatabase;
let store: Store;
let other: Store;
const commits: Commit[] = [];

beforeAll(async () => {
  database = await createDatabase();
  store = await Store.open({ url: database.url, name: 'partial-spec' }, { committed: (c) => void commits.push(c) });
  other = await Store.open({ url: database.url, name: 'partial-spec-2' });
  await given(store, 'authorized');
});
afterAll(async () => {
  await Promise.all([store.close(), other.close()]);
  await database.drop();
});

const run = { tenant: 'acme', user: 'ada', profile: 'batch', permissions: [], phase: null, openedBy: 'spec' } as const;

test('a command for a run that is closed does not pass for recorded because its neighbour was', async () => {
  const id = `run_${ulid()}`;
  await store.runs.open({ ...run, id }, 60_000);
  await other.runs.close(id, 'acme');
  const [late, good] = [record({ runId: id }), record()];
  const results = await Promise.all([store.door.execute(late), store.door.execute(good)]);
  expect(results).toMatchObject([{ kind: 'rejected', reason: 'run_closed' }, { kind: 'accepted' }]);
  expect(commits.flatMap(({ dispatch }) => dispatch.map((each) => each.id))).not.toContain(late.intentId);
});

test('a key that another process recorded does not make a second intent because a neighbour was recorded', async () => {
  const first = record();
  await other.door.execute(first);
  const twin = record({ key: first.command.proposal.key });
  const results = await Promise.all([store.door.execute(twin), store.door.execute(record())]);
  expect(results).toMatchObject([
    { kind: 'unchanged', intent: { proposal: { intentId: first.intentId } } },
    { kind: 'accepted' },
  ]);
});

test('a stale intent is decided again although its neighbour was written', async () => {
  const [moved, good] = await Promise.all([given(store, 'authorized'), given(store, 'authorized')]);
  const [known, still] = await Promise.all([store.intents.load(moved), store.intents.load(good)]);
  if (!known || !still) throw new Error('no such intent');
  await other.door.execute({ intentId: moved, command: { type: 'cancel', by: 'ada' } });
  const results = await Promise.all([
    store.door.execute({ ...start(moved), known }),
    store.door.execute({ ...start(good), known: still }),
  ]);
  expect(results.map(({ intent }) => intent?.state)).toEqual(['cancelled', 'dispatching']);
});

test('a slot is given back when its key was taken, although its neighbour was started', async () => {
  const first = record();
  await other.door.execute(first);
  const handed: string[] = [];
  const own = await Store.open({ url: database.url, name: 'partial-spec' });
  await given(own, 'authorized');
  own.door.startWith({
    reserve: () => ({
      attemptId: ulid(),
      started: ({ proposal }) => void handed.push(proposal.intentId),
      release: () => void handed.push('released'),
    }),
  });
  const good = record();
  await Promise.all([own.door.execute(record({ key: first.command.proposal.key })), own.door.execute(good)]);
  await own.close();
  expect(handed.sort()).toEqual([good.intentId, 'released'].sort());
});

test('what a stale intent would be answered without writing is looked up all the same', async () => {
  const intentId = await given(store, 'dispatching', { terms: terms({ backoffMs: 0 }) });
  const known = await store.intents.load(intentId);
  if (known?.state !== 'dispatching') throw new Error('not dispatching');
  const turnedAway = {
    kind: 'not_executed',
    cause: 'http_503',
    transient: true,
    retryAfterMs: null,
    detail: '',
  } as const;
  const { attemptId } = known.attempt;
  await other.door.execute({
    intentId,
    command: { type: 'record_verdict', attemptId, verdict: turnedAway, jitter: 0 },
  });
  const result = await store.door.execute({ ...start(intentId), known });
  expect(result).toMatchObject({ kind: 'accepted', intent: { state: 'dispatching' } });
});

test('no doorbell rings for an intent that was not recorded', async () => {
  const id = `run_${ulid()}`;
  await store.runs.open({ ...run, id }, 60_000);
  await other.runs.close(id, 'acme');
  const late = record({ runId: id });
  await store.door.execute(late);
  const bells = await database.query("SELECT FROM outbox WHERE payload LIKE '%' || $1 || '%'", [late.intentId]);
  expect(bells).toEqual([]);
});
