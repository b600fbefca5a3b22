import { createDatabase, proposal, type TestDatabase } from '@intendant/testing';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Result } from './result.js';
import { Store } from './store.js';

let database: TestDatabase;
let store: Store;

beforeAll(async () => {
  database = await createDatabase();
  store = await Store.open({ url: database.url, name: 'door-spec' });
});
afterAll(async () => {
  await store.close();
  await database.drop();
});

const allow = { allow: true } as const;
const record = (over = {}) => {
  const p = proposal(over);
  return { intentId: p.intentId, command: { type: 'record', proposal: p, ruling: allow } } as const;
};
const start = (intentId: string, attemptId: string) =>
  ({ intentId, command: { type: 'start_attempt', attemptId } }) as const;

describe('the door', () => {
  test('records an intent with its events, its row and its doorbell in one transaction', async () => {
    const command = record();
    const result = await store.door.execute(command);

    expect(result).toMatchObject({ kind: 'accepted', intent: { state: 'authorized', version: 2 } });
    const events = await database.query('SELECT version, type FROM events WHERE intent_id = $1 ORDER BY version', [
      command.intentId,
    ]);
    expect(events).toEqual([
      { version: 1, type: 'recorded' },
      { version: 2, type: 'authorized' },
    ]);
    const bells = await database.query<{ payload: string }>(
      "SELECT payload FROM outbox WHERE subject = 'intendant.work.dispatch'",
    );
    expect(bells.some((b) => b.payload.includes(command.intentId))).toBe(true);
  });

  test('answers the same key with the same arguments from the first intent, and other arguments with a conflict', async () => {
    const first = record();
    await store.door.execute(first);
    const { key } = first.command.proposal;

    expect(await store.door.execute(record({ key }))).toMatchObject({
      kind: 'unchanged',
      intent: { proposal: { intentId: first.intentId } },
    });
    expect(await store.door.execute(record({ key, fingerprint: 'other' }))).toMatchObject({
      kind: 'rejected',
      reason: 'idempotency_conflict',
    });
  });

  test('makes one intent of many submits of one key at the same moment, through two replicas', async () => {
    const other = await Store.open({ url: database.url, name: 'door-spec-2' });
    const key = 'the-same-key';
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, i) => (i % 2 ? store : other).door.execute(record({ key }))),
    );
    await other.close();

    expect(results.filter((r) => r.kind === 'accepted')).toHaveLength(1);
    expect(new Set(results.map((r) => r.intent?.proposal.intentId)).size).toBe(1);
    expect(
      await database.query(
        'SELECT count(*)::int AS n FROM events e JOIN intents i ON i.id = e.intent_id WHERE i.key = $1',
        [key],
      ),
    ).toEqual([{ n: 2 }]);
  });

  test('lets exactly one of many dispatchers start an attempt', async () => {
    const other = await Store.open({ url: database.url, name: 'door-spec-3' });
    const { intentId } = record();
    await store.door.execute({ intentId, command: { ...record().command, proposal: proposal({ intentId }) } });
    const results = await Promise.all(
      Array.from({ length: 10 }, (_, i) => (i % 2 ? store : other).door.execute(start(intentId, `attempt-${i}`))),
    );
    await other.close();

    expect(results.filter((r) => r.kind === 'accepted')).toHaveLength(1);
    expect(results.filter((r) => r.kind === 'rejected' && r.reason === 'not_authorized')).toHaveLength(9);
  });

  test('executes a command once when it comes twice under one id', async () => {
    const command = record();
    await store.door.execute(command);
    const twice = { ...start(command.intentId, 'attempt'), commandId: 'the-command' };

    expect(await store.door.execute(twice)).toMatchObject({
      kind: 'accepted',
      intent: { state: 'dispatching', version: 3 },
    });
    expect(await store.door.execute(twice)).toMatchObject({
      kind: 'accepted',
      events: [],
      intent: { state: 'dispatching', version: 3 },
    });
  });

  test('does not let a command that the database refuses fail its neighbours', async () => {
    const good = record();
    const bad = record({ tool: 'nul \u0000 byte' });
    const [one, two] = await Promise.allSettled([store.door.execute(good), store.door.execute(bad)]);

    expect(one).toMatchObject({ status: 'fulfilled', value: { kind: 'accepted' } });
    expect(two.status).toBe('rejected');
  });

  test('goes on when its connections are killed under it', async () => {
    const commands: ReturnType<typeof record>[] = [];
    const running: Promise<Result>[] = [];
    let killed = 0;
    // Fewer than a batch is tried again: with one lane every kill may hit the same one.
    while (killed < 3) {
      const more = Array.from({ length: 100 }, () => record());
      commands.push(...more);
      running.push(...more.map((c) => store.door.execute(c)));
      const rows = await database.query<{ n: number }>(
        `SELECT count(*) FILTER (WHERE pg_terminate_backend(pid))::int AS n FROM pg_stat_activity WHERE application_name = 'door-spec'`,
      );
      killed += rows[0]?.n ?? 0;
    }
    const results = await Promise.all(running);

    expect(results.every((r) => r.kind === 'accepted')).toBe(true);
    const [row] = await database.query<{ n: number }>(
      'SELECT count(*)::int AS n FROM events WHERE intent_id = ANY($1)',
      [commands.map((c) => c.intentId)],
    );
    expect(row?.n).toBe(commands.length * 2);
  });

  test('keeps the read model equal to the folded log', async () => {
    expect(await store.verify()).toEqual([]);
    await database.query("UPDATE intents SET reason = 'tampered' WHERE id = (SELECT min(id) FROM intents)");
    expect(await store.verify()).toMatchObject([{ column: 'reason', row: 'tampered' }]);
  });

  test('cannot change or delete what is in the log, whoever asks through a service', async () => {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    for (const sql of [
      "UPDATE events SET type = 'committed'",
      'DELETE FROM events',
      'TRUNCATE events',
      'DELETE FROM intents',
      'DROP TABLE events',
    ]) {
      await expect(client.query(sql)).rejects.toThrow(/permission denied|must be owner/);
    }
    await client.end();
  });
});
