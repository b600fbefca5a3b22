import { streams } from '@intendant/contracts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { audit } from './audit.js';
import { eventually } from './eventually.js';
import { sized } from './full-size.js';
import type { Service } from './service.js';
import { Stack } from './stack.js';
import { stopped } from './stopped-process.js';
import { messagesOf } from './stream-listing.js';

let stack: Stack;
let relay: Service;
beforeAll(async () => {
  stack = await Stack.start({ services: ['policy', 'dispatcher', 'reconciler'] });
  relay = await stack.launch('outbox-relay');
});
afterAll(() => stack.stop());

/** A message that its service did not publish, written that many seconds ago. */
async function leave(name: string, seconds = 0): Promise<void> {
  const values = [name, `intendant.events.acme.run.${name}.made_up`, seconds];
  await stack.database.query(
    "INSERT INTO outbox VALUES ($1, $2, '{}', clock_timestamp() - $3::int * interval '1 second')",
    values,
  );
}

async function timesPublished(name: string): Promise<number> {
  return (await messagesOf(stack, streams.events)).filter(({ msgId }) => msgId === name).length;
}

const arrives = (name: string, timeoutMs?: number) =>
  eventually(`${name} is published`, async () => (await timesPublished(name)) > 0, timeoutMs);

const outboxIsEmpty = () =>
  eventually('the outbox is empty', async () => (await stack.database.query('SELECT 1 FROM outbox')).length === 0);

/** In seconds, as the relay tells it. */
async function lag(): Promise<number> {
  const metrics = await (await fetch(`${relay.url}/metrics`)).text();
  return Number(/^intendant_outbox_oldest_seconds (.*)$/m.exec(metrics)?.[1]);
}

async function commits(count: number): Promise<void> {
  const agent = await stack.agent();
  const results = await Promise.all(
    Array.from({ length: count }, (_, i) =>
      agent.submit('effects.keyed', { ref: `${agent.runId} ${i}` }, { stepId: `s${i}`, wait: '20s' }),
    ),
  );
  for (const { status, intentId } of results) {
    expect(status).toBe('committed');
    expect(stack.effects(await stack.keyOf(intentId))).toHaveLength(1);
  }
}

test('somebody idle in a transaction holds up what he has locked, which an alarm tells, and nothing else (S50)', async () => {
  await relay.stop();
  await leave('held', 60);
  await leave('claimed-by-nobody', 60);
  const idle = await stack.database.session();
  try {
    await idle.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    // An old snapshot, a transaction id, and a row of the outbox.
    await idle.query('CREATE TEMP TABLE notes AS SELECT count(*) FROM intents');
    const held = await idle.query("SELECT FROM outbox WHERE msg_id = 'held' FOR UPDATE");
    expect(held.rowCount).toBe(1);
    relay = await stack.launch('outbox-relay');
    await arrives('claimed-by-nobody');
    await commits(20);
    await eventually('the relay tells that a message waits', async () => (await lag()) > 60);
    expect(await timesPublished('held')).toBe(0);
    await idle.query('COMMIT');
  } finally {
    await idle.end();
  }
  await arrives('held');
  await outboxIsEmpty();
  await eventually('the relay tells that nothing waits', async () => (await lag()) === 0);
});

test('a relay that loses its claim without noticing publishes nothing twice, and holds up nobody meanwhile (S54)', async () => {
  await relay.stop();
  const stuck = await stack.launch('outbox-relay', 'relay.after_claim:1:pause');
  await leave('taken', 60);
  await stopped(stuck);
  relay = await stack.launch('outbox-relay');
  await leave('free', 60);
  await arrives('free');
  await commits(10);
  expect(await timesPublished('taken')).toBe(0);

  // Its session ends: here by a person, in the full size by the limit that services set for themselves, 30 s.
  const end = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'outbox-relay' AND state = 'idle in transaction'`;
  if (sized(true, false)) await stack.database.query(end);
  await arrives('taken', 60_000);
  await outboxIsEmpty();
  // In the middle of a claim that is another one's now, it publishes once more.
  const before = stuck.log.length;
  stuck.kill('SIGCONT');
  await eventually('it has noticed', () =>
    stuck.log.slice(before).some((line) => line.includes('outbox relay failed')),
  );
  expect([await timesPublished('taken'), await timesPublished('free')]).toEqual([1, 1]);
  await relay.stop();
  await leave('after', 60);
  await arrives('after');
}, 120_000);

test('in the end log, read model and ledger agree', async () => {
  expect(await audit(stack)).toEqual([]);
});
