import type { Facts } from '@intendant/contracts';
import type { Proposal } from '@intendant/intent';
import { createDatabase, type TestDatabase } from '@intendant/testing';
import { ulid } from 'ulid';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Admission, Claim } from './facts.js';
import { given, record, report, start, terms } from './given.spec-helper.js';
import { Store } from './store.js';

let database: TestDatabase;
let store: Store;
let other: Store;

beforeAll(async () => {
  database = await createDatabase();
  store = await Store.open({ url: database.url, name: 'claims-spec' });
  other = await Store.open({ url: database.url, name: 'claims-spec-2' });
});
afterAll(async () => {
  expect(await store.verify()).toEqual([]);
  await Promise.all([store.close(), other.close()]);
  await database.drop();
});

const run = {
  tenant: 'acme',
  user: 'ada',
  profile: 'batch',
  permissions: ['*'],
  phase: 'resolve',
  openedBy: 'spec',
} as const;
const budgets = { calls: null, mutating: null, destructive: 5, costMicros: null, wallClockMs: null };
const destroys = terms({ effect: 'destructive' });

async function openRun(): Promise<string> {
  return (await store.runs.open({ ...run, id: `run_${ulid()}`, budgets }, 60_000)).id;
}

/** A record with a claim; it is refused when its judge finds the budget used up. */
function claimed(over: Partial<Proposal>, more: Partial<Claim> = {}, needsFacts = false) {
  const recorded = record({ terms: destroys, ...over });
  const { runId } = recorded.command.proposal;
  const claim = {
    runId,
    revision: 1,
    rates: [],
    alikeForMs: null,
    identifiers: [],
    gist: null,
    grantsFor: null,
    past: false,
    exact: false,
    ...more,
  };
  const judge = ({ run: facts }: Facts) => {
    if (facts?.revision !== claim.revision) throw new Error('the run has changed');
    if (facts.used.destructive >= 5) throw new Error('used up');
    return recorded.command;
  };
  const admission: Admission = { claim, needsFacts, judge };
  return { ...recorded, admission };
}

describe('what a batch goes by', () => {
  test('is confirmed for each of its intents, not for one of each run', async () => {
    await given(store, 'authorized');
    const runId = await openRun();
    await other.runs.enter(runId, 'acme', 'closing');
    const [first = '', second = ''] = [ulid(), ulid()].sort();
    // The one that knows the run as it is comes first in the statement.
    const outcomes = await Promise.allSettled([
      store.door.execute(record()),
      store.door.execute(claimed({ runId, intentId: second }, { revision: 1 })),
      store.door.execute(claimed({ runId, intentId: first }, { revision: 2 })),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await store.intents.load(second)).toBeNull();
  });

  test('does not replace what others have counted meanwhile', async () => {
    const runId = await openRun();
    const read = await given(store, 'authorized', { runId, terms: terms({ effect: 'read', untrusted: true }) });
    await store.door.execute(start(read, 'a1'));
    const meanwhile = await database.session();
    onTestFinished(() => meanwhile.end());
    await meanwhile.query('BEGIN');
    await meanwhile.query('UPDATE runs SET destructive = 5, stamp = stamp + 1 WHERE id = $1', [runId]);
    // Counted before the others are done, written after them, beside a change that taints the run.
    const outcomes = Promise.allSettled([
      store.door.execute(record()),
      store.door.execute(claimed({ runId }, { exact: true }, true)),
      store.door.execute(report(read, 'a1', { kind: 'executed', data: {} })),
    ]);
    await vi.waitFor(async () => {
      const waits = "application_name = 'claims-spec' AND datname = current_database() AND wait_event_type = 'Lock'";
      expect(await database.query(`SELECT FROM pg_stat_activity WHERE ${waits}`)).toHaveLength(1);
    });
    await meanwhile.query('COMMIT');
    await outcomes;
    const [row] = await database.query<{ destructive: number }>('SELECT destructive FROM runs WHERE id = $1', [runId]);
    // What the other has counted is not among the intents here, so that counting anew may find less; one statement must not.
    expect(row?.destructive).toBeGreaterThanOrEqual(5);
  });
});

test('replicas that take the same operations in other orders do not wait for each other in a circle', async () => {
  const runs = await Promise.all([openRun(), openRun()]);
  const read = terms({ effect: 'read' });
  const [before] = await database.query<{ deadlocks: number }>(deadlocks);
  for (let round = 0; round < 5; round += 1) {
    const operations = Array.from({ length: 100 }, (_, i) => ({ digest: `operation ${round} ${i}`, windowMs: 60_000 }));
    const ids = Array.from({ length: 200 }, () => ulid()).sort();
    const ask = (door: Store['door'], list: typeof operations, odd: number) =>
      list.map((operation, i) =>
        door.execute(claimed({ runId: runs[odd] ?? '', intentId: ids[2 * i + odd] ?? '', operation, terms: read })),
      );
    await Promise.allSettled([
      ...[store.door.execute(record()), other.door.execute(record())],
      ...ask(store.door, operations, 0),
      ...ask(other.door, operations.toReversed(), 1),
    ]);
    const [held] = await database.query<{ n: number }>(
      'SELECT count(*)::int AS n FROM intents WHERE operation LIKE $1',
      [`operation ${round} %`],
    );
    expect(held?.n).toBe(100);
  }
  const [after] = await database.query<{ deadlocks: number }>(deadlocks);
  expect(after?.deadlocks).toBe(before?.deadlocks);
}, 60_000);

const deadlocks = 'SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()';
