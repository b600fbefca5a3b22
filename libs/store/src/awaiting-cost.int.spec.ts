import { performance } from 'node:perf_hooks';
import type { ApprovalRequest } from '@intendant/intent';
import { createDatabase, proposal, type TestDatabase } from '@intendant/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findUnjudged, loadAwaiting } from './sql/awaiting.js';
import { Store } from './store.js';

const [waiting, others] = [1_000, 20_000];
/**
 * Of the time that reading every event takes in the same minute: an absolute time says more about what else the machine is doing.
 * 50 ms are promised; measured on two quiet cores: 15.
 */
const mostOfAll = 0.5;
/** Of what it takes to read the same rows over and over on a machine that is doing something else. */
const measured = 20;

const request: ApprovalRequest = {
  ...{ nonce: 'n1', digest: 'd1', toolFile: 'f1', policy: 'p1', quorum: 1, roles: [], groups: [], redact: [] },
  demands: [{ rule: 'approval', message: 'payments.refund.create always needs the approval of a person.' }],
  view: 'Refund 1500 of order ord_1 to ada, who has asked for it twice since Monday',
  ...{ impact: null, reversible: null, undo: null, selfApproval: false, remember: 'run', alike: null, preview: null },
  expiresAt: Date.now() + 3_600_000,
};

let database: TestDatabase;
let store: Store;

beforeAll(async () => {
  database = await createDatabase();
  store = await Store.open({ url: database.url, name: 'list-cost' });
  const ruling = { allow: 'approved', request } as const;
  const ask = (i: number) => {
    const asked = proposal({ stepId: `s${i}`, key: `key-${i}` });
    return store.door.execute({ intentId: asked.intentId, command: { type: 'record', proposal: asked, ruling } });
  };
  for (let from = 0; from < waiting; from += 100) {
    await Promise.all(Array.from({ length: 100 }, (_, i) => ask(from + i)));
  }
  // As many that are over, of another run's past: copies of the first, told apart by id and key.
  await database.query(
    `WITH first AS (SELECT i AS row FROM intents AS i LIMIT 1), copies AS (
       INSERT INTO intents SELECT (jsonb_populate_record(first.row, jsonb_build_object(
         'id', '00' || lpad(n::text, 24, '0'), 'key', 'copy-' || n, 'step_id', 'copy-' || n,
         'state', 'denied', 'wake_at', NULL, 'reason', 'permission_denied', 'held', false))).*
       FROM first, generate_series(1, $1::int) AS n RETURNING id)
     INSERT INTO events (intent_id, version, type, data, command_id, recorded_at)
     SELECT copies.id, e.version, e.type, e.data, 'copy-' || copies.id || e.version, e.recorded_at
     FROM copies, (SELECT * FROM events WHERE intent_id = (SELECT (row).id FROM first)) AS e`,
    [others],
  );
  await database.query('ANALYZE intents, events');
}, 120_000);
afterAll(async () => {
  await store?.close();
  await database?.drop();
});

test('a thousand that wait for people are listed by their index, and take a fraction of what reading everything takes', async () => {
  const values = ['acme', null, null, waiting];
  const explained = await database.query<{ 'QUERY PLAN': [{ Plan: object; 'Execution Time': number }] }>(
    `EXPLAIN (ANALYZE, FORMAT JSON) ${loadAwaiting.text}`,
    values,
  );
  const [plan] = explained[0]?.['QUERY PLAN'] ?? [];
  expect(JSON.stringify(plan?.Plan)).toContain('"Index Name":"intents_awaiting"');
  expect(JSON.stringify(plan?.Plan)).not.toMatch(/"Node Type":"Seq Scan","[^{}]*"Relation Name":"intents"/);

  expect(await store.intents.awaiting({ tenant: 'acme', limit: waiting })).toHaveLength(waiting);
  const [list, all] = [await fastest(loadAwaiting.text, values), await fastest('SELECT data FROM events', [])];
  console.info(`${waiting} pending among ${others}: ${list.toFixed(1)} ms, all events ${all.toFixed(1)} ms`);
  expect(list).toBeLessThan(all * mostOfAll);
}, 60_000);

test('those that the rules of now have not seen are found among them as fast, and nothing is read where none is asked anew', async () => {
  const values = ['p2', ['f1'], waiting, null];
  const plan = async () =>
    JSON.stringify(await database.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${findUnjudged.text}`, values));
  const none = await plan();
  expect(none).toContain('"Index Name":"intents_awaiting"');
  expect(none, 'events are not even looked at').not.toMatch(/"Relation Name":"events[^{}]*"Actual Loops":[1-9]/);

  await database.query("UPDATE intents SET reason = 'differs' WHERE state = 'awaiting_approval'");
  await database.query(
    `UPDATE events SET data = jsonb_set(jsonb_set(data::jsonb, '{request,judged}', '"p1"'), '{request,policy}', '"p2"')
     WHERE type = 'approval_requested'`,
  );
  await database.query('ANALYZE intents, events');
  expect(await store.intents.unjudged('p2', ['f1'], waiting)).toHaveLength(waiting);
  expect(await store.intents.unjudged('p1', ['f1'], waiting)).toEqual([]);
  expect(await store.intents.unjudged('p2', ['f2'], waiting)).toEqual([]);
  const all = await store.intents.unjudged('p2', ['f1'], waiting);
  expect(await store.intents.unjudged('p2', ['f1'], 10, all[9])).toEqual(all.slice(10, 20));
  expect(await plan()).not.toMatch(/"Node Type":"Seq Scan","[^{}]*"Relation Name":"intents"/);
  const [found, events] = [await fastest(findUnjudged.text, values), await fastest('SELECT data FROM events', [])];
  console.info(`${waiting} to be judged again: ${found.toFixed(1)} ms, all events ${events.toFixed(1)} ms`);
  expect(found).toBeLessThan(events * mostOfAll);
}, 60_000);

/** In ms; a busy machine makes some of them slow, and none fast. */
async function fastest(text: string, values: unknown[]): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < measured; i += 1) {
    const from = performance.now();
    await database.query(text, values);
    times.push(performance.now() - from);
  }
  return Math.min(...times);
}
