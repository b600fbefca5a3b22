import { createDatabase, type TestDatabase } from '@intendant/testing';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Addressed } from './door.js';
import { StoreUnavailable } from './errors.js';
import { given, lostAnswer, record, report, start } from './given.spec-helper.js';
import { Store } from './store.js';

let database: TestDatabase;
let store: Store;

beforeAll(async () => {
  database = await createDatabase();
  store = await Store.open({ url: database.url, name: 'races-spec' }, { lanes: 1 });
});
afterAll(async () => {
  expect(await store.verify()).toEqual([]);
  await store.close();
  await database.drop();
});

/** As another replica would. */
async function elsewhere(addressed: Addressed): Promise<void> {
  const other = await Store.open({ url: database.url, name: 'races-spec-elsewhere' });
  await other.door.execute(addressed);
  await other.close();
}

const log = (intentId: string) =>
  database.query<{ version: number; type: string; tx: string }>(
    'SELECT version, type, xmin::text AS tx FROM events WHERE intent_id = $1 ORDER BY version',
    [intentId],
  );

describe('commands of one batch', () => {
  test('see each other when they are for the same intent, and share one transaction', async () => {
    const first = record();
    const { intentId } = first;
    const executed = { kind: 'executed', data: { ok: true } } as const;
    const results = await Promise.all([
      store.door.execute(first),
      store.door.execute(record({ key: first.command.proposal.key })),
      store.door.execute(start(intentId, 'one')),
      store.door.execute(start(intentId, 'two')),
      store.door.execute(report(intentId, 'one', executed)),
      store.door.execute({ intentId, command: { type: 'cancel', by: 'ada' } }),
    ]);
    expect(results.map((result) => result.kind)).toEqual([
      'accepted',
      'unchanged',
      'accepted',
      'rejected',
      'accepted',
      'unchanged',
    ]);
    const events = await log(intentId);
    expect(events.map((event) => event.type)).toEqual(['recorded', 'authorized', 'attempt_started', 'committed']);
    expect(new Set(events.map((event) => event.tx)).size).toBe(1);
    const [row] = await database.query('SELECT state, version, attempts FROM intents WHERE id = $1', [intentId]);
    expect(row).toEqual({ state: 'committed', version: 4, attempts: 1 });
  });

  test('that lose a race are told from those that do not, whoever shares their transaction', async () => {
    const taken = Array.from({ length: 20 }, () => record());
    await Promise.all(taken.map((command) => store.door.execute(command)));
    const moved = await given(store, 'authorized');
    const { intent: stale } = await store.door.execute(start(moved, 'first'));
    await elsewhere(report(moved, 'first', lostAnswer));
    const results = await Promise.all([
      ...taken.map(({ command }) => store.door.execute(record({ key: command.proposal.key }))),
      store.door.execute({ ...start(moved, 'second'), ...(stale && { known: stale }) }),
      ...Array.from({ length: 20 }, () => store.door.execute(record())),
    ]);
    const kinds = results.map((result) => result.kind);
    expect(kinds).toEqual([...Array(20).fill('unchanged'), 'rejected', ...Array(20).fill('accepted')]);
    expect(results.slice(0, 20).map((result) => result.intent?.proposal.intentId)).toEqual(
      taken.map(({ intentId }) => intentId),
    );
    const ids = results.flatMap((result) => result.intent?.proposal.intentId ?? []);
    expect(await database.query('SELECT FROM intents WHERE id = ANY ($1)', [ids])).toHaveLength(new Set(ids).size);
  });

  test('answer for an intent that does not exist without disturbing the others', async () => {
    const good = record();
    const [one, two] = await Promise.all([store.door.execute(start('nobody')), store.door.execute(good)]);
    expect(one).toEqual({ kind: 'rejected', reason: 'no_such_intent', intent: null });
    expect(two.kind).toBe('accepted');
  });
});

test('an intent with an event that only a later version knows fails alone, at once', async () => {
  const strange = await given(store, 'authorized');
  const good = await given(store, 'authorized');
  await database.query(
    "INSERT INTO events VALUES ($1, 3, 'teleported', '{}', 'of a later version', clock_timestamp())",
    [strange],
  );
  const [one, two] = await Promise.allSettled([store.door.execute(start(strange)), store.door.execute(start(good))]);
  expect(one).toMatchObject({ status: 'rejected', reason: { message: expect.stringContaining('version 3') } });
  expect(two).toMatchObject({ status: 'fulfilled', value: { kind: 'accepted' } });
  const loaded = await Promise.allSettled([store.intents.load(strange), store.intents.load(good)]);
  expect(loaded.map((load) => load.status)).toEqual(['rejected', 'fulfilled']);
  expect(await store.verify()).toMatchObject([{ intentId: strange, log: expect.stringContaining('teleported') }]);
  await database.query("DELETE FROM events WHERE type = 'teleported'");
});

describe('a race with another replica', () => {
  test('is decided again on what the winner left', async () => {
    const intentId = await given(store, 'authorized');
    const winner = new pg.Client({ connectionString: database.ownerUrl });
    await winner.connect();
    onTestFinished(() => winner.end());
    await winner.query('BEGIN');
    await winner.query(
      `INSERT INTO events VALUES ($1, 3, 'cancelled', '{"by":"ada"}', 'the other replica', date_trunc('milliseconds', now()))`,
      [intentId],
    );
    await winner.query(
      "UPDATE intents SET state = 'cancelled', version = 3, wake_at = NULL, calls = 0, held = false, reason = 'by ada', since = date_trunc('milliseconds', now()) WHERE id = $1",
      [intentId],
    );
    const loser = store.door.execute(start(intentId, 'too late'));
    await vi.waitFor(async () => {
      const waits = "application_name = 'races-spec' AND wait_event_type = 'Lock'";
      expect(await database.query(`SELECT FROM pg_stat_activity WHERE ${waits}`)).toHaveLength(1);
    }, 10_000);
    await winner.query('COMMIT');
    expect(await loser).toMatchObject({ kind: 'rejected', reason: 'not_authorized', intent: { state: 'cancelled' } });
    expect((await log(intentId)).map((event) => event.type)).toEqual(['recorded', 'authorized', 'cancelled']);
    expect(await messagesAbout(intentId, 'attempt')).toBe(0);
  });

  test('of one command with itself takes effect once', async () => {
    const other = await Store.open({ url: database.url, name: 'races-spec-2' });
    for (let round = 0; round < 10; round += 1) {
      const intentId = await given(store, 'authorized');
      const command = { ...start(intentId, 'the attempt'), commandId: `command ${round}` };
      const results = await Promise.all([store.door.execute(command), other.door.execute(command)]);
      expect(results).toMatchObject([
        { kind: 'accepted', intent: { state: 'dispatching', version: 3 } },
        { kind: 'accepted', intent: { state: 'dispatching', version: 3 } },
      ]);
      expect(await log(intentId)).toHaveLength(3);
    }
    await other.close();
  });
});

describe('a database that takes no writes', () => {
  const readOnly = async (on: boolean) => {
    await database.query(`ALTER ROLE intendant_app IN DATABASE ${name()} SET default_transaction_read_only = ${on}`);
    await database.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'races-spec' AND datname = current_database()",
    );
  };
  const name = () => new URL(database.url).pathname.slice(1);

  test('records nothing and says so after a bounded time; recovers without a restart', async () => {
    const known = await given(store, 'authorized');
    const command = record();
    await readOnly(true);
    const attempts = await Promise.allSettled([
      store.door.execute(command),
      store.door.execute({ ...start(known), commandId: 'the start' }),
    ]);
    for (const attempt of attempts) {
      expect(attempt).toMatchObject({ status: 'rejected', reason: expect.any(StoreUnavailable) });
    }
    expect(await log(command.intentId)).toEqual([]);
    expect(await log(known)).toHaveLength(2);
    expect(await store.intents.load(known), 'reading goes on').toMatchObject({ state: 'authorized' });

    await database.query(`ALTER ROLE intendant_app IN DATABASE ${name()} RESET default_transaction_read_only`);
    const recovered = await Promise.all([store.door.execute(command), store.door.execute(start(known))]);
    expect(recovered.map((result) => result.kind)).toEqual(['accepted', 'accepted']);
  });
});

async function messagesAbout(intentId: string, text: string): Promise<number> {
  const rows = await database.query('SELECT FROM outbox WHERE payload LIKE $1 AND payload LIKE $2', [
    `%${intentId}%`,
    `%${text}%`,
  ]);
  return rows.length;
}
