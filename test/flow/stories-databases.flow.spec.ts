import { Store } from '@intendant/store';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { audit } from './audit.js';
import { eventually } from './eventually.js';
import { sized } from './full-size.js';
import { type OwnPostgres, startOwnPostgres } from './own-postgres.js';
import { Stack } from './stack.js';
import { UpstreamCalls } from './upstream-calls.js';

let postgres: OwnPostgres;
let stack: Stack;
let calls: UpstreamCalls;
beforeAll(async () => {
  postgres = await startOwnPostgres();
  stack = await Stack.start({
    database: postgres,
    services: ['policy', 'outbox-relay', 'dispatcher', 'reconciler'],
  });
  calls = new UpstreamCalls(stack);
  // A data directory has to be made first.
}, 120_000);
afterAll(() => stack.stop());

/** What the ledger has for an intent: requests on the wire and effects. */
async function onTheWire(intentId: string): Promise<{ requests: number; effects: number }> {
  const key = await stack.keyOf(intentId);
  return { requests: stack.requests(key).length, effects: stack.effects(key).length };
}

test(
  'while PostgreSQL is read-only nothing is sent, neither what waits nor again what was charged (S21)',
  async () => {
    const agent = await stack.agent();
    const submit = (ref: string) => agent.submit('effects.searched', { ref: `${agent.runId} ${ref}` }, { stepId: ref });
    const charge = { delayMs: 600, honourKey: false } as const;
    const later = { commit: false, then: 'status:429', headers: { 'retry-after': '2' }, honourKey: false } as const;
    stack.upstream.behave({ match: { bodyContains: 'charged' }, behaviour: charge });
    stack.upstream.behave({ match: { bodyContains: 'waiting' }, behaviour: later });
    const waiting = await submit('waiting');
    await eventually(
      'it is held back',
      async () => (await calls.load(waiting.intentId)).attempts[0]?.cause === 'http_429',
    );
    const charged = await submit('charged');
    await stack.upstream.waitForRequest({ key: await stack.keyOf(charged.intentId) }, 10_000);

    await postgres.server.readOnly(true);
    const since = performance.now();
    // Nobody knows whether it was recorded, so nobody says that it was.
    expect((await submit('new')).error).toMatchObject({ code: 'unavailable', retryable: true });
    await eventually('it has been so for a while', () => performance.now() - since > sized(5_000, 60_000), 90_000);
    expect(await onTheWire(charged.intentId)).toEqual({ requests: 1, effects: 1 });
    expect(await onTheWire(waiting.intentId)).toEqual({ requests: 1, effects: 0 });
    expect(stack.upstream.ledger().filter(({ kind }) => kind === 'request')).toHaveLength(2);
    await postgres.server.readOnly(false);

    const again = await submit('new');
    for (const { intentId } of [charged, waiting, again]) expect(await stack.settled(intentId)).toBe('committed');
    expect(await onTheWire(charged.intentId)).toEqual({ requests: 1, effects: 1 });
    expect(await onTheWire(waiting.intentId)).toEqual({ requests: 2, effects: 1 });
    expect(await onTheWire(again.intentId)).toEqual({ requests: 1, effects: 1 });
  },
  sized(60_000, 150_000),
);

test('a success whose record times out twenty times is recorded in the end, and nothing is sent again (S22)', async () => {
  // A sequence counts what is rolled back as well.
  await postgres.query(`
    CREATE SEQUENCE timed_out;
    CREATE FUNCTION refuse_success() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
      BEGIN
        IF nextval('timed_out') <= 20 THEN
          RAISE EXCEPTION 'canceling statement due to statement timeout' USING ERRCODE = 'query_canceled';
        END IF;
        RETURN NEW;
      END $$;
    CREATE TRIGGER refuse_success BEFORE INSERT ON events FOR EACH ROW WHEN (NEW.type = 'committed') EXECUTE FUNCTION refuse_success()`);
  const agent = await stack.agent();
  stack.upstream.behave({ match: { bodyContains: agent.runId }, times: 'always', behaviour: { honourKey: false } });
  const { intentId } = await agent.submit('effects.searched', { ref: agent.runId }, { stepId: 's1' });
  expect(await stack.settled(intentId, 60_000)).toBe('committed');
  await postgres.query('DROP FUNCTION refuse_success CASCADE');

  const [row] = await postgres.query<{ count: string }>('SELECT last_value AS count FROM timed_out');
  expect(Number(row?.count)).toBeGreaterThan(20);
  expect(await onTheWire(intentId)).toEqual({ requests: 1, effects: 1 });
  expect((await calls.eventsOf(intentId)).filter((type) => type === 'committed')).toHaveLength(1);
}, 90_000);

test('the log, the read model and the ledger agree about all of it', async () => {
  expect(await audit(stack)).toEqual([]);
});

test('what is restored into a fresh server goes on there, and so does what is new (S51)', async () => {
  const agent = await stack.agent();
  const submit = (step: string, wait?: string) =>
    agent.submit('effects.keyed', { ref: step }, { stepId: step, ...(wait && { wait }) });
  const done = await submit('done', '20s');
  expect(done.status).toBe('committed');
  for (const { name, stop } of stack.services) if (name === 'dispatcher') await stop();
  const waiting = await submit('waiting');
  await Promise.all(stack.services.map((service) => service.stop()));

  const fresh = await postgres.another();
  const store = await Store.open({ url: fresh.url, name: 'restored' });
  try {
    await restore(postgres, fresh);
    await stack.launch('standalone', undefined, { INTENDANT_DATABASE_URL: fresh.url });
    expect(await submit('done', '20s')).toEqual({ ...done, replayed: true });
    const results = [await submit('waiting', '20s'), ...(await Promise.all(['a', 'b'].map((s) => submit(s, '20s'))))];
    expect(results.map(({ status, replayed }) => [status, replayed])).toEqual([
      ['committed', true],
      ['committed', false],
      ['committed', false],
    ]);
    expect(results[0]?.intentId).toBe(waiting.intentId);
    for (const { intentId } of [done, ...results]) {
      const key = (await store.intents.load(intentId))?.proposal.key ?? '';
      expect([stack.requests(key).length, stack.effects(key).length]).toEqual([1, 1]);
    }
    await eventually('the outbox is empty', async () => (await fresh.query('SELECT 1 FROM outbox')).length === 0);
    expect(await store.verify()).toEqual([]);
    await Promise.all(stack.services.map((service) => service.stop()));
  } finally {
    await store.close();
    await fresh.drop();
  }
}, 60_000);

/** All rows of all tables, as a dump of the data brings them. */
async function restore(from: OwnPostgres, to: OwnPostgres): Promise<void> {
  const tables = await from.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class
     WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition AND relname <> 'migrations'`,
  );
  for (const { name } of tables) {
    const [row] = await from.query<{ rows: string }>(
      `SELECT coalesce(json_agg(t), '[]')::text AS rows FROM ${name} AS t`,
    );
    await to.query(`INSERT INTO ${name} SELECT * FROM json_populate_recordset(NULL::${name}, $1)`, [row?.rows]);
  }
}
