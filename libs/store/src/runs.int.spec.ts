import { createDatabase, type TestDatabase } from '@intendant/testing';
import { ulid } from 'ulid';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { StoreUnavailable } from './errors.js';
import { Store } from './store.js';

let database: TestDatabase;
let store: Store;
beforeAll(async () => {
  database = await createDatabase();
  store = await Store.open({ url: database.url, name: 'runs-spec' });
});
afterAll(async () => {
  await store.close();
  await database.drop();
});

const run = (at: number) => ({
  ...{
    id: `run_${ulid()}`,
    tenant: at % 2 ? 'acme' : 'umbrella',
    user: `user "${at}" \\ é`,
    profile: 'batch' as const,
  },
  ...{ permissions: [`b:${at}`, 'a:*', 'b,c {d}'], phase: at % 3 ? null : `phase ${at}`, openedBy: 'spec' },
});

test('runs that are opened at once are stored by the hundred, each as it was asked for, in the order of the calls', async () => {
  const many = Array.from({ length: 250 }, (_, at) => ({
    ...run(at),
    sandbox: at % 5 === 0,
    restrictions: [{ tools: ['mail.*'], allow: `args.n < ${at}`, message: `Below ${at}.` }],
    budgets: { calls: at, mutating: null, destructive: 0, costMicros: 3_000_000_000 + at, wallClockMs: at * 1_000 },
  }));
  const opened = await Promise.all(many.map((each, at) => store.runs.open(each, 60_000 + at)));
  for (const [at, { budgets, ...asked }] of many.entries()) {
    const { wallClockMs, ...limits } = budgets;
    const stored = opened[at];
    expect(stored).toMatchObject({ ...asked, budgets: limits, closed: false, revision: 1, taintedBy: null });
    expect((stored?.expiresAt ?? 0) - (stored?.openedAt ?? 0)).toBe(60_000 + at);
    expect((stored?.actsUntil ?? 0) - (stored?.openedAt ?? 0)).toBe(wallClockMs);
    expect(await store.runs.find(asked.id)).toEqual(stored);
  }
  // All of a statement have the same time.
  const [row] = await database.query<{ n: string }>('SELECT count(DISTINCT opened_at) AS n FROM runs');
  expect(Number(row?.n)).toBeLessThan(10);
});

test('a run without limits has none', async () => {
  const { budgets, actsUntil, sandbox, restrictions } = await store.runs.open(run(1), 60_000);
  expect(budgets).toEqual({ calls: null, mutating: null, destructive: null, costMicros: null });
  expect([actsUntil, sandbox, restrictions]).toEqual([null, false, []]);
});

test('a database that is away is told to everybody who waits for the same statement', async () => {
  const lost = await createDatabase();
  const other = await Store.open({ url: lost.url, name: 'runs-spec-2' });
  await lost.drop();
  const ends = await Promise.allSettled([0, 1, 2].map((at) => other.runs.open(run(at), 60_000)));
  for (const end of ends) expect(end).toMatchObject({ status: 'rejected', reason: expect.any(StoreUnavailable) });
  await other.close();
});
