import type { Session, ToolDefinition } from '@intendant/contracts';
import { Refusal } from '@intendant/contracts';
import { ApprovalSeals } from '@intendant/credentials';
import { parsePolicyFiles } from '@intendant/rules';
import { Store } from '@intendant/store';
import { createDatabase, type TestDatabase, toolAt } from '@intendant/testing';
import { createRegistry } from '@intendant/tools';
import { ulid } from 'ulid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Admission } from './admission.js';
import { rulesOfFiles } from './rules-of-files.js';

const noRules = rulesOfFiles(parsePolicyFiles([], []));
let database: TestDatabase;
let store: Store;
let replica: Store;

beforeAll(async () => {
  database = await createDatabase();
  store = await Store.open({ url: database.url, name: 'admission-spec' });
  replica = await Store.open({ url: database.url, name: 'admission-spec-2' });
});
afterAll(async () => {
  await store.close();
  await replica.close();
  await database.drop();
});

const at = 'http://127.0.0.1:1';
const named = (name: string, permission: string, more: Partial<ToolDefinition> = {}) =>
  toolAt(at, { tool: { name, permission, ...more } });
const order = {
  type: 'object',
  required: ['order_id', 'amount'],
  properties: { order_id: { type: 'string' }, amount: { type: 'integer', minimum: 1 } },
};
const refund = named('payments.refund.create', 'payments:refund', { input: order, inject: { user_id: 'user' } });
const mocked = named('mail.draft', 'mail:send', { sandbox: refund.upstream });
const tools = createRegistry([refund, named('mail.send', 'mail:send'), named('mail.purge', 'mail:admin'), mocked]);
const good = { tool: refund.name, args: { order_id: 'o1', amount: 5 }, stepId: 's1' };

async function openSession(over: Partial<Session> = {}): Promise<Session> {
  const run = {
    id: `run_${ulid()}`,
    tenant: 'acme',
    user: 'ada',
    profile: 'batch' as const,
    permissions: ['payments:refund', 'mail:send'],
    phase: null,
    openedBy: 'bot',
  };
  const { expiresAt } = await store.runs.open(run, 60_000);
  const { tenant, user, profile, permissions, phase } = run;
  return { tenant, runId: run.id, user, profile, permissions, phase, expiresAt, ...over };
}
const seals = new ApprovalSeals('approval-secret-of-this-spec-0123456789');
const admit = (session: Session, message: object, from = store) =>
  new Admission(from, tools, noRules, seals).admit(session, new TextEncoder().encode(JSON.stringify(message)), {
    traceparent: null,
    answered: true,
  });
/** The error object of a submit that is refused. */
async function refusal(session: Session, message: object) {
  const error = await admit(session, message).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(Refusal);
  return (error as Refusal).error;
}
const intentsOf = (session: Session) => store.intents.list({ runId: session.runId, limit: 10 });

describe('a good submit', () => {
  test('is recorded with identity, run and authority from the trusted side', async () => {
    const session = await openSession({ expiresAt: Date.now() + 10 * 3_600_000 });
    const { intent, replayed } = await admit(session, good);
    const run = await store.runs.find(session.runId);
    expect(replayed).toBe(false);
    expect(intent).toMatchObject({ state: 'authorized', version: 2 });
    expect(intent.proposal).toMatchObject({
      tenant: 'acme',
      user: 'ada',
      runId: session.runId,
      stepId: 's1',
      args: good.args,
      injected: { user_id: 'ada' },
      expiresAt: run?.expiresAt,
      contractDigest: refund.contractDigest,
    });
  });

  test('that comes again is answered from the first, whatever the order of its fields and whoever answers', async () => {
    const session = await openSession();
    const first = await admit(session, good);
    const again = await admit(
      session,
      { stepId: 's1', args: { amount: 5, order_id: 'o1' }, tool: refund.name },
      replica,
    );
    expect(again.replayed).toBe(true);
    expect(again.intent.proposal.intentId).toBe(first.intent.proposal.intentId);
    expect(await intentsOf(session)).toHaveLength(1);
  });

  test('is one intent when it comes many times at once over two replicas', async () => {
    const session = await openSession();
    const admitted = await Promise.all(
      Array.from({ length: 16 }, (_, i) => admit(session, good, i % 2 ? store : replica)),
    );
    expect(admitted.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(new Set(admitted.map(({ intent }) => intent.proposal.intentId)).size).toBe(1);
  });

  test('of another run is another intent', async () => {
    const [one, two] = [await openSession(), await openSession()];
    expect((await admit(one, good)).replayed).toBe(false);
    expect((await admit(two, good)).replayed).toBe(false);
  });

  test('without a step is known by its arguments', async () => {
    const session = await openSession();
    const { tool, args } = good;
    await admit(session, { tool, args });
    expect((await admit(session, { tool, args })).replayed).toBe(true);
    expect((await admit(session, { tool, args: { ...args, amount: 6 } })).replayed).toBe(false);
  });
});

test('the same step with other arguments is a conflict that names the intent it collides with', async () => {
  const session = await openSession();
  const { intent } = await admit(session, good);
  const error = await refusal(session, { ...good, args: { ...good.args, amount: 500 } });
  expect(error).toMatchObject({
    code: 'idempotency_conflict',
    retryable: false,
    details: { intentId: intent.proposal.intentId },
  });
  expect(error.message).toMatch(/Step s1 already called payments\.refund\.create with other arguments/);
  expect(await intentsOf(session)).toHaveLength(1);
});

test('fields that only the trusted side may set are dropped, and the log keeps that they came but not what they said', async () => {
  const session = await openSession();
  const forged = { ...good.args, user_id: 'mallory', idempotency_key: 'the-forged-key', tenant_id: 'umbrella' };
  const { intent } = await admit(session, { ...good, args: forged });
  expect(intent.proposal.args).toEqual(good.args);
  expect(intent.proposal.dropped.map((field) => field.pointer).sort()).toEqual([
    '/idempotency_key',
    '/tenant_id',
    '/user_id',
  ]);
  expect(JSON.stringify(await store.intents.history(intent.proposal.intentId))).not.toMatch(/mallory|forged|umbrella/);
  expect((await admit(session, good)).replayed, 'they are no part of the identity').toBe(true);
});

describe('nothing is recorded', () => {
  test('of arguments that break the schema; every violation is named', async () => {
    const session = await openSession();
    const error = await refusal(session, { ...good, args: { order_id: 7, amount: 0 } });
    expect(error).toMatchObject({ code: 'invalid_arguments', nextAction: 'fix_arguments' });
    const problems = error.details['problems'] as { pointer: string }[];
    expect(problems.map(({ pointer }) => pointer).sort()).toEqual(['/amount', '/order_id']);
    expect(error.message).toContain('(and 1 more)');
    expect(await intentsOf(session)).toEqual([]);
  });

  test('of an unknown tool; the suggestion is one that the caller may use', async () => {
    const session = await openSession();
    expect(await refusal(session, { ...good, tool: 'mail.sent' })).toMatchObject({
      code: 'unknown_tool',
      details: { suggestion: 'mail.send' },
    });
    const secret = await refusal(session, { ...good, tool: 'mail.purged' });
    expect(JSON.stringify(secret)).not.toContain('mail.purge"');
    expect(secret.details['suggestion']).not.toBe('mail.purge');
    const admin = await openSession({ permissions: ['mail:admin'] });
    expect(await refusal(admin, { ...good, tool: 'mail.purged' })).toMatchObject({
      details: { suggestion: 'mail.purge' },
    });
  });

  test('of another version', async () => {
    const session = await openSession();
    expect(await refusal(session, { ...good, toolVersion: 2 })).toMatchObject({
      code: 'unknown_tool',
      details: { version: 1 },
    });
    expect(await intentsOf(session)).toEqual([]);
  });

  test('for a sandbox that the tool does not have; whoever may not call it does not learn that', async () => {
    const session = await openSession();
    expect(await refusal(session, { ...good, sandbox: true })).toMatchObject({
      code: 'invalid_message',
      message: 'payments.refund.create has no sandbox. Nothing was recorded.',
      details: { problems: [{ pointer: '/sandbox', expected: 'false', got: 'true' }] },
    });
    const inSandbox = await openSession({ sandbox: true });
    expect(await refusal(inSandbox, good)).toMatchObject({
      code: 'invalid_message',
      message: expect.stringContaining('in this run every call goes to a sandbox'),
      details: { problems: [{ pointer: '/tool', expected: 'a tool with a sandbox' }] },
    });
    expect(await intentsOf(session)).toEqual([]);
    expect(await intentsOf(inSandbox)).toEqual([]);
    const { intent } = await admit(session, { tool: 'mail.purge', args: {}, stepId: 's1', sandbox: true });
    expect(intent).toMatchObject({ state: 'denied', failure: { code: 'permission_denied' } });
  });

  test('in a run that is closed, unless it was recorded before: then it is answered from that', async () => {
    const session = await openSession();
    const first = await admit(session, good);
    await store.runs.close(session.runId, 'acme');
    expect(await admit(session, good)).toEqual({ intent: first.intent, replayed: true });
    expect(await refusal(session, { ...good, args: { ...good.args, amount: 6 } })).toMatchObject({
      code: 'run_closed',
    });
    expect(await refusal(session, { ...good, stepId: 's2' })).toMatchObject({ code: 'run_closed' });
  });

  test('in a run that is closed, does not exist or belongs to another tenant', async () => {
    const closed = await openSession();
    await store.runs.close(closed.runId, 'acme');
    expect(await refusal(closed, good)).toMatchObject({ code: 'run_closed', nextAction: 'stop' });
    const nowhere = await openSession({ runId: `run_${ulid()}` });
    const foreign = await openSession({ tenant: 'umbrella' });
    for (const session of [nowhere, foreign]) {
      expect(await refusal(session, good)).toMatchObject({
        code: 'unauthenticated',
        message: expect.stringContaining('does not exist'),
      });
      expect(await intentsOf(session)).toEqual([]);
    }
  });

  test('of what is not a ToolIntent', async () => {
    const session = await openSession();
    expect(await refusal(session, { ...good, user: 'mallory' })).toMatchObject({ code: 'invalid_message' });
  });
});

describe('a sandbox call', () => {
  const draft = { tool: 'mail.draft', args: {}, stepId: 's1' };

  test('is recorded as one, and is another intent than the real call of the same step', async () => {
    const session = await openSession();
    const mock = await admit(session, { ...draft, sandbox: true });
    const real = await admit(session, draft);
    expect([mock.intent.proposal.sandbox, real.intent.proposal.sandbox]).toEqual([true, false]);
    expect([mock.replayed, real.replayed]).toEqual([false, false]);
    expect(mock.intent.proposal.key).not.toBe(real.intent.proposal.key);
    const again = await admit(session, { ...draft, sandbox: true });
    expect([again.replayed, again.intent.proposal.intentId]).toEqual([true, mock.intent.proposal.intentId]);
  });

  test('is what every call of a sandbox run is, whatever its message says', async () => {
    const session = await openSession({ sandbox: true });
    for (const stepId of ['s1', 's2']) {
      const { intent } = await admit(session, { ...draft, stepId, ...(stepId === 's2' && { sandbox: false }) });
      expect(intent.proposal.sandbox).toBe(true);
    }
  });

  test('of a run that is closed is answered from itself, not from the real one', async () => {
    const session = await openSession();
    const mock = await admit(session, { ...draft, sandbox: true });
    await store.runs.close(session.runId, 'acme');
    expect(await admit(session, { ...draft, sandbox: true })).toEqual({ intent: mock.intent, replayed: true });
    expect(await refusal(session, draft)).toMatchObject({ code: 'run_closed' });
  });
});

test('what the caller may not do is recorded as denied, with the rule', async () => {
  const session = await openSession();
  const { intent } = await admit(session, { tool: 'mail.purge', args: {}, stepId: 's2' });
  expect(intent).toMatchObject({ state: 'denied', failure: { code: 'permission_denied' } });
  expect((await admit(session, { tool: 'mail.purge', args: {}, stepId: 's2' })).replayed).toBe(true);
});

test('an overloaded service turns submits away before it reads them, and takes them again afterwards', async () => {
  const session = await openSession();
  const flood = Promise.allSettled(
    Array.from({ length: 5_200 }, () => store.door.execute({ intentId: ulid(), command: { type: 'expire' } })),
  );
  const error = await refusal(session, { ...good, tool: 'never.looked.up' });
  expect(error).toMatchObject({ code: 'unavailable', retryable: true, nextAction: 'wait' });
  expect(error.message).toContain('Nothing was recorded');
  await flood;
  expect((await admit(session, good)).replayed).toBe(false);
});
