import type { In, Intent } from '@intendant/intent';
import { createDatabase, type TestDatabase } from '@intendant/testing';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { given, lostAnswer, record, report, start } from './given.spec-helper.js';
import { Store } from './store.js';

let database: TestDatabase;
let store: Store;
let other: Store;

beforeAll(async () => {
  database = await createDatabase();
  store = await Store.open({ url: database.url, name: 'known-spec' });
  other = await Store.open({ url: database.url, name: 'known-spec-2' });
  // From now on both have seen the time of the database.
  await Promise.all([given(store, 'authorized'), given(other, 'authorized')]);
});
afterAll(async () => {
  expect(await store.verify()).toEqual([]);
  await Promise.all([store.close(), other.close()]);
  await database.drop();
});

const executed = { kind: 'executed', data: { refund_id: 're_1' } } as const;
const cancel = (intentId: string) => ({ intentId, command: { type: 'cancel', by: 'ada' } }) as const;
const types = async (intentId: string) => (await store.intents.history(intentId)).map(({ event }) => event.type);

async function seen(intentId: string): Promise<Intent> {
  const intent = await store.intents.load(intentId);
  if (!intent) throw new Error(`no intent ${intentId}`);
  return intent;
}

/** Names of the statements that the door sends from now on. */
function statements(): string[] {
  const names: string[] = [];
  const { pool } = store as unknown as { pool: { query: (config: { name?: string }) => unknown } };
  const query = pool.query;
  const spy = vi.spyOn(pool, 'query').mockImplementation((config) => {
    names.push(config.name ?? 'nameless');
    return query(config);
  });
  onTestFinished(() => spy.mockRestore());
  return names;
}

describe('what the caller knows', () => {
  test('saves loading the intent', async () => {
    const known = await seen(await given(store, 'authorized'));
    const sent = statements();
    const { intentId } = known.proposal;
    const started = await store.door.execute({ ...start(intentId, 'the attempt'), known });
    const dispatching = started.intent as In<'dispatching'>;
    await store.door.execute({ ...report(intentId, 'the attempt', executed), known: dispatching });
    expect(sent).toEqual(['append_moves', 'append_moves']);
    expect(await types(intentId)).toEqual(['recorded', 'authorized', 'attempt_started', 'committed']);
  });

  test('is nothing about an intent to be recorded, which is not looked for', async () => {
    const sent = statements();
    expect((await store.door.execute(record())).kind).toBe('accepted');
    expect(sent).toEqual(['append_plain']);
  });

  test('saves nothing for its neighbour that nobody knows', async () => {
    const [known, unknown] = await Promise.all([given(store, 'authorized'), given(store, 'authorized')]);
    const intent = await seen(known);
    const sent = statements();
    const results = await Promise.all([
      store.door.execute({ ...start(known), known: intent }),
      store.door.execute(start(unknown)),
    ]);
    expect(results.map((result) => result.intent?.state)).toEqual(['dispatching', 'dispatching']);
    expect(sent).toEqual(['load_streams', 'append_moves']);
  });
});

describe('what the caller knows, and is so no more,', () => {
  test('is decided again on what somebody else left', async () => {
    const known = await seen(await given(store, 'authorized'));
    const { intentId } = known.proposal;
    await other.door.execute(cancel(intentId));
    const sent = statements();
    expect(await store.door.execute({ ...start(intentId), known })).toMatchObject({
      kind: 'rejected',
      reason: 'not_authorized',
      intent: { state: 'cancelled', version: 3 },
    });
    expect(sent).toEqual(['append_moves', 'load_streams']);
    expect(await types(intentId)).toEqual(['recorded', 'authorized', 'cancelled']);
  });

  test('does not bring a second verdict over the first', async () => {
    const intentId = await given(store, 'authorized');
    await store.door.execute(start(intentId, 'the attempt'));
    const known = await seen(intentId);
    await other.door.execute(report(intentId, 'the attempt', executed));
    for (const verdict of [lostAnswer, executed]) {
      const result = await store.door.execute({ ...report(intentId, 'the attempt', verdict), known });
      expect(result).toMatchObject({ kind: 'unchanged', intent: { state: 'committed', version: 4 } });
    }
    expect(await types(intentId)).toEqual(['recorded', 'authorized', 'attempt_started', 'committed']);
  });

  test('does not execute a command again that took effect before under its id', async () => {
    const known = await seen(await given(store, 'authorized'));
    const { intentId } = known.proposal;
    const command = { ...start(intentId, 'the attempt'), commandId: 'comes twice', known };
    await other.door.execute(command);
    expect(await store.door.execute(command)).toMatchObject({
      kind: 'accepted',
      events: [],
      intent: { state: 'dispatching', version: 3 },
    });
  });

  test('is seen as it is by both of two commands that come at once', async () => {
    const known = await seen(await given(store, 'authorized'));
    const { intentId } = known.proposal;
    await other.door.execute(start(intentId, 'of the other'));
    const results = await Promise.all([
      store.door.execute({ ...start(intentId, 'mine'), known }),
      store.door.execute({ ...cancel(intentId), known }),
    ]);
    expect(results.map(({ intent }) => intent?.state)).toEqual(['dispatching', 'dispatching']);
    expect(await types(intentId)).not.toContain('cancelled');
  });

  test('is the key of an intent that another process has recorded: its intent is the answer', async () => {
    const first = record();
    await other.door.execute(first);
    const sent = statements();
    expect(await store.door.execute(record({ key: first.command.proposal.key }))).toMatchObject({
      kind: 'unchanged',
      intent: { proposal: { intentId: first.intentId } },
    });
    expect(sent).toEqual(['append_plain', 'load_streams']);
  });
});
