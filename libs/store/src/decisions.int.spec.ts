import { approvalRequest, createDatabase, proposal, type TestDatabase } from '@intendant/testing';
import { ulid } from 'ulid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { given, record, start } from './given.spec-helper.js';
import { Store } from './store.js';

let database: TestDatabase;
let store: Store;

beforeAll(async () => {
  database = await createDatabase();
  store = await Store.open({ url: database.url, name: 'decisions-spec' });
});
afterAll(async () => {
  await store.close();
  await database.drop();
});

const hour = { forMs: 3_600_000 };
const list = (filter: object) => store.decisions.list({ since: hour, limit: 10, ...filter });
const restrictions = [{ tools: ['pay.*'], allow: 'args.n < 3', message: 'Small ones.' }];

async function openRun(tenant: string): Promise<string> {
  const id = `run_${ulid()}`;
  const run = { id, tenant, user: 'ada', permissions: ['pay:*'], phase: null, openedBy: 'bot', restrictions };
  await store.runs.open({ ...run, profile: 'batch' }, 600_000);
  return id;
}

describe('a decision', () => {
  test('is told with everything that a rule looks at', async () => {
    const runId = await openRun('seen');
    const p = proposal({ tenant: 'seen', runId, cost: 2_500_000, phase: 'triage', taintedBy: ulid(), sandbox: true });
    const reasons = { policy: 'v1', rule: 'large', inputs: { 'args.n': 5 } };
    const failure = { code: 'rule_denied', message: 'No.', details: { rule: 'large', wouldAllow: 'a person' } };
    const ruling = { allow: false, failure, reasons } as const;
    await store.door.execute({ intentId: p.intentId, command: { type: 'record', proposal: p, ruling } });
    const { items, since } = await list({ tenant: 'seen' });
    const run = { profile: 'batch', permissions: ['pay:*'], openedBy: 'bot', restrictions };
    expect(items).toEqual([
      {
        ...{ intentId: p.intentId, tenant: 'seen', runId, user: 'ada', phase: 'triage', sandbox: true },
        ...{ tool: p.tool, toolVersion: 1, effect: 'destructive', args: p.args, costMicros: 2_500_000 },
        ...{
          taintedBy: p.taintedBy,
          decision: 'deny',
          demandedBy: [],
          code: 'rule_denied',
          wouldAllow: 'a person',
          reasons,
        },
        at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
        run: { ...run, openedAt: expect.stringMatching(/\.\d{6}Z$/) },
        changes: [
          { at: items[0]?.at, type: 'recorded' },
          { at: items[0]?.at, type: 'denied' },
        ],
      },
    ]);
    expect(Date.parse(since)).toBeLessThan(Date.parse(items[0]?.at ?? '') - 3_500_000);
  });

  test('that people are asked is told as that, with all that asked for it, whatever they answer', async () => {
    const p = proposal({ tenant: 'asked', runId: await openRun('asked') });
    const { intentId } = p;
    const reasons = { policy: 'v1', rule: 'large', inputs: {} };
    const demands = ['approval', 'large', 'taint'].map((rule) => ({ rule, message: 'Why.' }));
    const ruling = {
      allow: 'approved',
      request: approvalRequest({ demands, expiresAt: p.expiresAt }),
      reasons,
    } as const;
    await store.door.execute({ intentId, command: { type: 'record', proposal: p, ruling } });
    const told = { decision: 'require_approval', demandedBy: ['approval', 'large', 'taint'], code: null, reasons };
    expect((await list({ tenant: 'asked' })).items).toMatchObject([{ ...told, wouldAllow: null }]);
    const approver = { name: 'olga', roles: [], groups: [] };
    await store.door.execute({ intentId, command: { type: 'refuse', approver, digest: null, reason: 'no' } });
    const { items } = await list({ tenant: 'asked' });
    expect(items).toMatchObject([{ ...told, code: null }]);
    expect(items[0]?.changes.map(({ type }) => type)).toEqual(['recorded', 'approval_requested', 'refused', 'denied']);
    expect(JSON.stringify(items)).not.toContain('olga');
  });

  test('of an allowance has no code, and one from before there were policies no reasons', async () => {
    await given(store, 'authorized', { tenant: 'old' });
    expect((await list({ tenant: 'old' })).items).toMatchObject([
      {
        ...{
          decision: 'allow',
          demandedBy: [],
          code: null,
          wouldAllow: null,
          reasons: null,
          run: null,
          phase: null,
          taintedBy: null,
        },
        costMicros: 0,
      },
    ]);
  });

  test('tells what has happened since, without what was answered', async () => {
    const { intentId, command } = record({ tenant: 'changed' });
    await store.door.execute({ intentId, command });
    const report = (verdict: object) => ({ type: 'record_verdict', attemptId: 'a', verdict, jitter: 0 }) as never;
    await store.door.execute(start(intentId, 'a'));
    const aborted = { kind: 'not_executed', cause: 'refused', transient: true, retryAfterMs: null, detail: 'secret' };
    await store.door.execute({ intentId, command: report({ ...aborted, sent: false }) });
    const [{ changes } = { changes: [] }] = (await list({ tenant: 'changed' })).items;
    expect(changes.map(({ at: _, ...change }) => change)).toEqual([
      { type: 'recorded' },
      { type: 'authorized', basis: 'admitted' },
      { type: 'attempt_started', attempt: 1 },
      { type: 'attempt_not_executed', attempt: 1, sent: false },
      { type: 'authorized', basis: 'not_executed' },
    ]);
  });

  test('does not tell arguments over 16 KiB', async () => {
    // {"s":"…"} as JSON: eight bytes around the text.
    for (const length of [16_376, 16_377])
      await given(store, 'authorized', { tenant: 'long', args: { s: 'x'.repeat(length) } });
    const { items } = await list({ tenant: 'long' });
    expect(items.map(({ args }) => args !== null).toSorted()).toEqual([false, true]);
  });
});

describe('the list', () => {
  const tenant = 'paged';
  const ids = async (filter: object) => (await list({ tenant, ...filter })).items.map(({ intentId }) => intentId);
  const all: string[] = [];

  beforeAll(async () => {
    for (const tool of ['mail.send', 'pay.refund', 'mail.send'])
      all.push(await given(store, 'authorized', { tenant, tool }));
    all.sort();
    await given(store, 'authorized', { tenant: 'other' });
  });

  test('is oldest first, by tenant, by tool and by page', async () => {
    expect(await ids({})).toEqual(all);
    expect(await ids({ tool: 'mail.send' })).toHaveLength(2);
    const first = await list({ tenant, limit: 2 });
    expect([first.items.map(({ intentId }) => intentId), first.nextCursor]).toEqual([all.slice(0, 2), all[1]]);
    const rest = await list({ tenant, limit: 2, after: first.nextCursor });
    expect([rest.items.map(({ intentId }) => intentId), rest.nextCursor]).toEqual([all.slice(2), null]);
    expect((await list({ tenant: undefined })).items.length).toBeGreaterThan(all.length);
  });

  test('begins with the first intent of the moment, and says which moment that is', async () => {
    const at = Date.now() + 60_000;
    expect(await list({ tenant, since: { at } })).toEqual({
      since: `${new Date(at).toISOString().slice(0, -1)}000Z`,
      items: [],
      nextCursor: null,
    });
    const later = await given(store, 'authorized', { tenant: 'then', intentId: ulid(at + 1) });
    await given(store, 'authorized', { tenant: 'then' });
    const found = await list({ tenant: 'then', since: { at } });
    expect(found.items.map(({ intentId }) => intentId)).toEqual([later]);
  });
});
