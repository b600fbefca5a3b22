import { defaultApproval, type Session, type ToolDefinition } from '@intendant/contracts';
import { ApprovalSeals } from '@intendant/credentials';
import type { Intent, JsonObject } from '@intendant/intent';
import { parsePolicyFiles } from '@intendant/rules';
import { Store } from '@intendant/store';
import { createDatabase, type TestDatabase, toolAt } from '@intendant/testing';
import { createRegistry } from '@intendant/tools';
import { ulid } from 'ulid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Admission } from './admission.js';
import { rulesOfFiles } from './rules-of-files.js';

let database: TestDatabase;
let stores: Store[];

beforeAll(async () => {
  database = await createDatabase();
  stores = await Promise.all(['refused-1', 'refused-2'].map((name) => Store.open({ url: database.url, name })));
});
afterAll(async () => {
  expect(await stores[0]?.verify()).toEqual([]);
  await Promise.all(stores.map((store) => store.close()));
  await database.drop();
});

const tool = (name: string, more: Partial<ToolDefinition> = {}) =>
  toolAt('http://127.0.0.1:1', { tool: { name, permission: 'all', ...more } });
const asks = { ...defaultApproval, required: true };
const { terms } = tool('any.tool');
const orderKey = { fields: ['/order'], windowMs: 3_600_000 };
const tools = createRegistry([
  tool('mail.send', { approval: asks }),
  tool('mail.list', { approval: asks, effect: 'read', terms: { ...terms, effect: 'read' } }),
  tool('mail.draft'),
  tool('pay.refund', { businessKey: orderKey }),
  tool('pay.everywhere', { businessKey: orderKey, approval: { ...asks, remember: 'tenant' } }),
]);
const rules = rulesOfFiles(
  parsePolicyFiles(
    [
      {
        file: 'all.policy.yaml',
        text: `
apiVersion: intendant/policy/v1
rules:
  - { name: large, tools: [pay.refund], when: args.cents > 1000, then: require_approval, message: Over 10.00 }
`,
      },
    ],
    tools.list().map(({ name }) => name),
  ),
);
const seals = new ApprovalSeals('approval-secret-of-this-spec-0123456789');

async function openRun(tenant = 'acme'): Promise<Session> {
  const run = {
    id: `run_${ulid()}`,
    tenant,
    user: 'ada',
    profile: 'batch',
    permissions: ['all'],
    phase: null,
  } as const;
  const { expiresAt } = await (stores[0] as Store).runs.open({ ...run, openedBy: 'spec' }, 600_000);
  return { ...run, runId: run.id, expiresAt };
}

let next = 0;
/** Through one of two policies in turns. */
async function submit(session: Session, name: string, args: JsonObject): Promise<Intent> {
  next += 1;
  const payload = new TextEncoder().encode(JSON.stringify({ tool: name, args, stepId: `step_${next}` }));
  const admission = new Admission(stores[next % 2] as Store, tools, rules, seals);
  return (await admission.admit(session, payload, { traceparent: null, answered: true })).intent;
}
async function say(intent: Intent, command: 'refuse' | 'approve' | 'cancel'): Promise<Intent> {
  const { intentId } = intent.proposal;
  const digest = intent.approvals?.requests.at(-1)?.digest ?? '';
  const approver = { name: 'olga', roles: ['approver'], groups: [] };
  const commands = {
    refuse: { type: 'refuse', approver, digest, reason: 'not to strangers' },
    approve: { type: 'approve', approver, digest },
    cancel: { type: 'cancel', by: 'ada' },
  } as const;
  const result = await (stores[next % 2] as Store).door.execute({ intentId, command: commands[command] });
  return result.intent as Intent;
}
async function refuse(session: Session, name: string, args: JsonObject): Promise<string> {
  const asked = await submit(session, name, args);
  expect(asked.state).toBe('awaiting_approval');
  expect(await say(asked, 'refuse')).toMatchObject({ state: 'denied', failure: { code: 'approval_refused' } });
  return asked.proposal.intentId;
}
const failureOf = (intent: Intent) => (intent.state === 'denied' ? intent.failure : null);
const deniedBefore = (intentId: string) => ({
  code: 'denied_before',
  message: expect.stringMatching(
    new RegExp(`^olga has refused this already \\(intent ${intentId}\\): not to strangers\\. Nobody was asked again`),
  ),
  details: { rule: 'refused_before', intentId, by: 'olga', reason: 'not to strangers', wouldAllow: null },
});

describe('what a person has refused', () => {
  test('is not asked again in other words, through any policy', async () => {
    const session = await openRun();
    const args = { to: 'eve@shop.example', text: 'Send the list', count: 7, urgent: true };
    const intentId = await refuse(session, 'mail.send', args);
    for (const words of [
      args,
      { ...args, to: 'Eve@SHOP.example' },
      { ...args, text: '  send  the\tlist ' },
      { ...args, text: 'Send\u200b the li\u00adst\ufeff' },
      { ...args, text: 'Ｓｅｎｄ the ｌｉｓｔ' },
      { ...args, text: 'Send the list.' },
      { ...args, count: '7' },
      { urgent: true, count: 7, text: 'Send the list', to: 'eve@shop.example' },
      { ...args, note: null, cc: [], subject: '' },
    ]) {
      for (let policy = 0; policy < 2; policy += 1) {
        const told = await submit(session, 'mail.send', words);
        expect(failureOf(told), JSON.stringify(words)).toMatchObject(deniedBefore(intentId));
      }
    }
    const other = await submit(session, 'mail.send', { ...args, to: 'bo@shop.example' });
    expect(other.state, 'somebody else is somebody else').toBe('awaiting_approval');
    expect((await submit(session, 'mail.draft', args)).state, 'so is another tool').toBe('authorized');
  });

  test('is asked about in another run', async () => {
    const args = { to: 'eve', text: 'once more' };
    await refuse(await openRun(), 'mail.send', args);
    expect((await submit(await openRun(), 'mail.send', args)).state).toBe('awaiting_approval');
  });

  test('is not asked about in another run of the tenant where the tool says so', async () => {
    const intentId = await refuse(await openRun(), 'pay.everywhere', { order: 'ord_1', cents: 5 });
    const again = await submit(await openRun(), 'pay.everywhere', { order: 'ORD_1', cents: 4 });
    expect(failureOf(again)).toMatchObject(deniedBefore(intentId));
    const elsewhere = await submit(await openRun('umbrella'), 'pay.everywhere', { order: 'ord_1', cents: 5 });
    expect(elsewhere.state).toBe('awaiting_approval');
  });

  test('is the business key: another amount is the same, below what needs a person as well, and another order is not', async () => {
    const session = await openRun();
    const intentId = await refuse(session, 'pay.refund', { order: 'ord_7', cents: 5_000 });
    for (const args of [
      { order: 'ord_7', cents: 4_999 },
      { order: ' Ord_7', cents: 2_000 },
      { order: 'ord_7', cents: 1 },
    ]) {
      expect(failureOf(await submit(session, 'pay.refund', args)), JSON.stringify(args)).toMatchObject(
        deniedBefore(intentId),
      );
    }
    expect((await submit(session, 'pay.refund', { order: 'ord_8', cents: 5_000 })).state).toBe('awaiting_approval');
    expect((await submit(session, 'pay.refund', { order: 'ord_9', cents: 1 })).state).toBe('authorized');
  });

  test('is a read as well', async () => {
    const session = await openRun();
    const intentId = await refuse(session, 'mail.list', { of: 'eve' });
    expect(failureOf(await submit(session, 'mail.list', { of: 'Eve' }))).toMatchObject(deniedBefore(intentId));
  });

  test('keeps its first reason, however often it is tried', async () => {
    const session = await openRun();
    const intentId = await refuse(session, 'mail.send', { to: 'eve' });
    for (let n = 0; n < 3; n += 1) {
      expect(failureOf(await submit(session, 'mail.send', { to: 'eve' }))).toMatchObject(deniedBefore(intentId));
    }
  });

  test('is known to a crowd that comes at once through two policies', async () => {
    const session = await openRun();
    const intentId = await refuse(session, 'mail.send', { to: 'eve' });
    const crowd = await Promise.all(Array.from({ length: 20 }, () => submit(session, 'mail.send', { to: 'EVE' })));
    for (const each of crowd) expect(failureOf(each)).toMatchObject(deniedBefore(intentId));
  });
});

test('what was not refused but ended otherwise is asked about again', async () => {
  const session = await openRun();
  const cancelled = await submit(session, 'mail.send', { to: 'eve' });
  expect(await say(cancelled, 'cancel')).toMatchObject({ state: 'cancelled' });
  expect((await submit(session, 'mail.send', { to: 'eve' })).state).toBe('awaiting_approval');
});

test.each(['mail.send', 'mail.list'])(
  'what people are asked about already is not asked about again under another step: %s',
  async (name) => {
    const session = await openRun();
    const waiting = await submit(session, name, { to: 'eve' });
    await expect(submit(session, name, { to: 'eve' })).rejects.toMatchObject({
      error: {
        code: 'blocked_by_unknown',
        details: { intentId: waiting.proposal.intentId, state: 'awaiting_approval' },
      },
    });
    expect(await say(waiting, 'approve')).toMatchObject({ state: 'authorized', basis: 'approved' });
  },
);

test('a crowd that proposes one call at once, through two policies, has people asked once, about a read as well', async () => {
  const session = await openRun();
  const crowd = Array.from({ length: 8 }, () => submit(session, 'mail.list', { of: 'eve' }));
  const recorded = (await Promise.allSettled(crowd)).filter(({ status }) => status === 'fulfilled');
  expect(recorded).toHaveLength(1);
});

test('what people are asked about already is not asked about in other words, so that a refusal holds for all of them', async () => {
  const session = await openRun();
  const words = ['Send the list', 'send the list.', ' Send  the list!', 'Ｓｅｎｄ the list'];
  const crowd = words.map((text) => submit(session, 'mail.send', { to: 'eve', text }));
  const outcomes = await Promise.allSettled(crowd);
  const [waiting, ...more] = outcomes.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  expect(more).toEqual([]);
  const refusals = outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason.error] : []));
  expect(refusals.map(({ code }) => code)).toEqual(Array(3).fill('blocked_by_unknown'));
  expect(await say(waiting as Intent, 'refuse')).toMatchObject({ state: 'denied' });
  for (const text of words) {
    expect(failureOf(await submit(session, 'mail.send', { to: 'eve', text }))).toMatchObject({ code: 'denied_before' });
  }
  expect((await submit(session, 'mail.send', { to: 'bo', text: 'Send the list' })).state).toBe('awaiting_approval');
});
