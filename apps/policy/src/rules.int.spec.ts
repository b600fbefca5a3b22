import type { Restriction, Session, ToolDefinition } from '@intendant/contracts';
import { ApprovalSeals } from '@intendant/credentials';
import type { Intent } from '@intendant/intent';
import { parsePolicyFiles } from '@intendant/rules';
import { Store } from '@intendant/store';
import { createDatabase, type TestDatabase, toolAt } from '@intendant/testing';
import { createRegistry } from '@intendant/tools';
import { ulid } from 'ulid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Admission } from './admission.js';
import { restrictionMistake, rulesOfFiles } from './rules-of-files.js';

let database: TestDatabase;
let stores: Store[];

beforeAll(async () => {
  database = await createDatabase();
  const names = ['rules-1', 'rules-2', 'rules-3'];
  stores = await Promise.all(names.map((name) => Store.open({ url: database.url, name })));
});
afterAll(async () => {
  expect(await stores[0]?.verify()).toEqual([]);
  await Promise.all(stores.map((store) => store.close()));
  await database.drop();
});

const tool = (name: string, more: Partial<ToolDefinition> = {}, cost: string | null = null) =>
  toolAt('http://127.0.0.1:1', { tool: { name, permission: 'all', ...more }, limits: { cost } });
const tools = createRegistry([
  tool('pay.refund', {}, 'args.cents / 100.0'),
  tool('pay.odd', {}, 'args.cents.dollars'),
  tool('pay.back', {}, '0.0 - args.cents'),
  tool('mail.send'),
  tool('mail.draft'),
  tool('mail.note'),
  tool('mail.odd'),
  tool('mail.admin', { permission: 'other' }),
]);
const deployment = `
apiVersion: intendant/policy/v1
serviceKeys:
  bot:
    restrict:
      - { tools: [pay.refund], allow: args.cents <= 20000, message: Refunds of this agent are at most 200.00. }
rules:
  - name: no-batches
    tools: [mail.draft]
    when: session.profile == 'batch'
    then: deny
    message: Drafts are for people
  - name: three-mails
    tools: [mail.send]
    when: size(run.history.filter(h, h.tool == 'mail.send')) >= 3
    then: deny
    message: Three mails are enough
  - name: one-note
    tools: [mail.note]
    when: has(run.history) && size(run.history.filter(h, h.tool == 'mail.note')) >= 1
    then: deny
    message: One note is enough.
  - name: odd
    tools: [mail.odd]
    when: args.secret > 5
    then: deny
    message: Odd.
  - name: large
    tools: [pay.refund]
    when: sum(run.history.filter(h, h.tool == 'pay.refund').map(h, h.args.cents)) + args.cents > 30000
    then: require_approval
    message: More than 300.00 would be refunded in this run
`;
const acme = `
apiVersion: intendant/policy/v1
tenant: acme
rates: { perTenant: 2/d }
`;
const set = parsePolicyFiles(
  [deployment, acme].map((text, i) => ({ file: `${i}.policy.yaml`, text })),
  tools.list().map(({ name }) => name),
);
const rules = rulesOfFiles(set);

async function openRun(
  over: { tenant?: string; openedBy?: string; restrictions?: Restriction[]; budget?: number } = {},
) {
  const { tenant = 'globex', openedBy = 'other', restrictions = [], budget = null } = over;
  const run = {
    id: `run_${ulid()}`,
    tenant,
    user: 'ada',
    profile: 'batch',
    permissions: ['all'],
    phase: null,
  } as const;
  const budgets = { calls: null, mutating: null, destructive: null, costMicros: budget, wallClockMs: null };
  const { expiresAt } = await (stores[0] as Store).runs.open({ ...run, openedBy, restrictions, budgets }, 600_000);
  return { ...run, runId: run.id, expiresAt } satisfies Session & { id: string };
}

const seals = new ApprovalSeals('approval-secret-of-this-spec-0123456789');
let next = 0;
async function submit(session: Session, name: string, args = {}): Promise<Intent> {
  next += 1;
  const payload = new TextEncoder().encode(JSON.stringify({ tool: name, args, stepId: `step_${next}` }));
  const admission = new Admission(stores[next % 3] as Store, tools, rules, seals);
  return (await admission.admit(session, payload, { traceparent: null, answered: true })).intent;
}
/** Why people are asked; null: they are not. */
const demandsOf = (intent: Intent) =>
  intent.state === 'awaiting_approval' ? (intent.approvals.requests.at(-1)?.demands ?? []) : null;
const failureOf = (intent: Intent) => (intent.state === 'denied' ? intent.failure : null);
const reasonsOf = async (intent: Intent) => {
  const history = await (stores[0] as Store).intents.history(intent.proposal.intentId);
  const [, decision] = history;
  return decision && 'reasons' in decision.event ? decision.event.reasons : null;
};

test('a rule of a file denies, and the decision names it, what it looked at and the version of the policy', async () => {
  const denied = await submit(await openRun(), 'mail.draft');
  expect(failureOf(denied)).toMatchObject({
    code: 'rule_denied',
    message: expect.stringMatching(/^Drafts are for people\. Nothing was sent/),
    details: { rule: 'no-batches', wouldAllow: null },
  });
  expect(await reasonsOf(denied)).toEqual({
    policy: set.version,
    rule: 'no-batches',
    inputs: { 'session.profile': 'batch' },
  });
  const allowed = await submit(await openRun(), 'mail.send');
  expect(await reasonsOf(allowed)).toEqual({ policy: set.version, rule: null, inputs: {} });
});

test('a rule over what the run has done is exact over three policies that are asked at once', async () => {
  const session = await openRun();
  const crowd = await Promise.all(Array.from({ length: 20 }, () => submit(session, 'mail.send')));
  expect(crowd.filter(({ state }) => state === 'authorized')).toHaveLength(3);
});

test('sums count what is under way and what waits; what needs a person is recorded with the rule that asks for one', async () => {
  const session = await openRun();
  expect((await submit(session, 'pay.refund', { cents: 10_000 })).state).toBe('authorized');
  expect((await submit(session, 'pay.refund', { cents: 20_000 })).state).toBe('authorized');
  const asked = await submit(session, 'pay.refund', { cents: 1 });
  expect(demandsOf(asked)).toEqual([{ rule: 'large', message: 'More than 300.00 would be refunded in this run.' }]);
  expect(await reasonsOf(asked)).toMatchObject({ policy: set.version, rule: 'large', inputs: { 'args.cents': 1 } });
});

test('a rule that asks whether there is a past sees it', async () => {
  const session = await openRun();
  expect((await submit(session, 'mail.note')).state).toBe('authorized');
  expect(failureOf(await submit(session, 'mail.note'))).toMatchObject({
    message: expect.stringMatching(/^One note is enough\. Nothing was sent/),
    details: { rule: 'one-note' },
  });
});

test('calls that are denied for nothing push nothing out of what a rule sees', async () => {
  const session = await openRun();
  await submit(session, 'pay.refund', { cents: 30_000 });
  await Promise.all(Array.from({ length: 210 }, () => submit(session, 'mail.admin')));
  expect(demandsOf(await submit(session, 'pay.refund', { cents: 1 }))).toMatchObject([{ rule: 'large' }]);
});

test('why a rule could not be applied is told to operators, not to the agent', async () => {
  const denied = await submit(await openRun(), 'mail.odd');
  expect(JSON.stringify(failureOf(denied))).not.toContain('secret');
  expect(await reasonsOf(denied)).toMatchObject({ rule: 'odd', inputs: { error: expect.stringContaining('secret') } });
});

describe('a restriction', () => {
  test('of the key that opened the run holds for its calls only', async () => {
    const bounded = await openRun({ openedBy: 'bot' });
    expect(failureOf(await submit(bounded, 'pay.refund', { cents: 20_001 }))).toMatchObject({
      code: 'rule_denied',
      message: expect.stringMatching(/^Refunds of this agent are at most 200\.00/),
      details: { rule: 'bot.restrict.0', 'args.cents': 20_001 },
    });
    expect((await submit(bounded, 'pay.refund', { cents: 20_000 })).state).toBe('authorized');
    expect((await submit(await openRun(), 'pay.refund', { cents: 20_001 })).state).toBe('authorized');
  });

  test('of the run itself holds beside it, and one that cannot be evaluated refuses', async () => {
    const restrictions = [{ tools: ['pay.*'], allow: "args.to in ['bo', 'cy']", message: 'Only to Bo and Cy' }];
    const session = await openRun({ restrictions });
    expect((await submit(session, 'pay.refund', { cents: 1, to: 'bo' })).state).toBe('authorized');
    const elsewhere = await submit(session, 'pay.refund', { cents: 1, to: 'eve' });
    expect(failureOf(elsewhere)).toMatchObject({ details: { rule: 'run.restrict.0' } });
    expect(failureOf(await submit(session, 'pay.refund', { cents: 1 }))).toMatchObject({ code: 'rule_denied' });
    expect((await submit(session, 'mail.send')).state).toBe('authorized');
  });

  test('is checked when the run is opened', () => {
    const mistake = (allow: string, named = ['pay.*']) =>
      restrictionMistake({ tools: named, allow, message: '' }, ['pay.refund']);
    expect(mistake('args.a < 3')).toBeNull();
    expect(mistake('args.a <')).toMatchObject({ field: 'allow' });
    expect(mistake("'yes'")).toMatchObject({
      field: 'allow',
      expected: expect.stringMatching(/neither true nor false/),
    });
    expect(mistake('run.calls < 3')).toMatchObject({ field: 'allow', expected: expect.stringMatching(/run/) });
    expect(mistake('true', ['pay.refund', 'pay.refnd'])).toMatchObject({
      field: 'tools/1',
      expected: expect.stringMatching(/did you mean pay\.refund\?/),
    });
  });
});

describe('the cost of a call', () => {
  test('is taken from the budget of the run, to the last cent', async () => {
    const session = await openRun({ budget: 25_300_000 });
    expect((await submit(session, 'pay.refund', { cents: 2_500 })).state).toBe('authorized');
    expect(failureOf(await submit(session, 'pay.refund', { cents: 31 }))).toMatchObject({
      code: 'budget_exhausted',
      details: { which: 'cost', used: 25, limit: 25.3 },
    });
    expect((await submit(session, 'pay.refund', { cents: 30 })).state).toBe('authorized');
    expect((await submit(session, 'mail.send')).state, 'what costs nothing goes on').toBe('authorized');
  });

  test.each([
    ['pay.odd', { cents: 5 }],
    ['pay.refund', {}],
    ['pay.refund', { cents: 'many' }],
    ['pay.back', { cents: 5 }],
    ['pay.refund', { cents: -5 }],
    ['pay.refund', { cents: 1e300 }],
  ])('that cannot be told, is negative or beyond all bounds denies the call: %s %j', async (name, args) => {
    expect(failureOf(await submit(await openRun(), name, args))).toMatchObject({
      code: 'rule_denied',
      details: { rule: 'cost' },
    });
  });
});

test('the rate of a tenant is over all its tools and runs', async () => {
  const session = await openRun({ tenant: 'acme' });
  await submit(session, 'mail.send');
  await submit(await openRun({ tenant: 'acme' }), 'pay.refund', { cents: 1 });
  await expect(submit(session, 'mail.send')).rejects.toMatchObject({
    error: { code: 'rate_limited', details: { limit: '2 calls in 86400 s over all tools' } },
  });
});
