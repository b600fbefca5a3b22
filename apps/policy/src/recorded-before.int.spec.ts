import type { Session, ToolDefinition } from '@intendant/contracts';
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
const seals = new ApprovalSeals('approval-secret-of-this-spec-0123456789');
let database: TestDatabase;
let store: Store;

beforeAll(async () => {
  database = await createDatabase();
  store = await Store.open({ url: database.url, name: 'recorded-before-spec' });
});
afterAll(async () => {
  await store.close();
  await database.drop();
});

const at = 'http://127.0.0.1:1';
const input = { type: 'object', properties: { to: { type: 'string' }, from: { type: 'string' } } };
const sandbox = toolAt(at, {}).upstream;
const mail = toolAt(at, { tool: { name: 'mail.send', permission: 'mail:send', input, sandbox } });
const other = toolAt(at, { tool: { name: 'mail.draft', permission: 'mail:send', input } });

async function openSession(): Promise<Session> {
  const run = { id: `run_${ulid()}`, tenant: 'acme', user: 'ada', permissions: ['mail:send'], phase: null } as const;
  const { expiresAt } = await store.runs.open({ ...run, profile: 'batch', openedBy: 'bot' }, 60_000);
  const { id: runId, ...rest } = run;
  return { ...rest, runId, profile: 'batch', expiresAt };
}
/** With the tools that a policy service has loaded. */
const admit = (tools: ToolDefinition[], session: Session, message: object, answered = true) =>
  new Admission(store, createRegistry([other, ...tools]), noRules, seals).admit(
    session,
    new TextEncoder().encode(JSON.stringify(message)),
    { traceparent: null, answered },
  );
const codeOf = (refused: Promise<unknown>) =>
  refused.then(
    () => null,
    (thrown: { error?: { code: string } }) => thrown.error?.code,
  );

const call = { tool: 'mail.send', args: { to: 'bob', from: 'ada' } };
const stricter = { ...input, properties: { to: { type: 'string', maxLength: 1 }, from: { type: 'string' } } };
const changes: [string, ToolDefinition[], object, string][] = [
  ['its tool is gone', [], {}, 'unknown_tool'],
  ['its tool is another version than it names', [{ ...mail, version: 2 }], { toolVersion: 1 }, 'unknown_tool'],
  ['its schema is stricter', [{ ...mail, input: stricter }], {}, 'invalid_arguments'],
  ['its sandbox is gone', [{ ...mail, sandbox: null }], { sandbox: true }, 'invalid_message'],
];

describe.each([
  ['with a step', { stepId: 's1' }],
  ['without a step', {}],
])('a call %s', (_, step) => {
  test.each(changes)('that was recorded is answered from that when %s', async (_, tools, over, code) => {
    const session = await openSession();
    const message = { ...call, ...step, ...over };
    const first = await admit([mail], session, message);
    for (const answered of [true, false]) {
      const again = await admit(tools, session, message, answered);
      expect(again).toMatchObject({
        replayed: true,
        intent: { proposal: { intentId: first.intent.proposal.intentId } },
      });
    }
    // Nobody else is answered from it.
    expect(await codeOf(admit(tools, await openSession(), message))).toBe(code);
    expect(await codeOf(admit(tools, session, { ...message, args: { to: 'eve', from: 'ada' } }))).toBe(code);
    expect(await store.intents.list({ runId: session.runId, limit: 10 })).toHaveLength(1);
  });
});

test('a call under a step is answered from what was recorded when a field of it has become the runtime’s since', async () => {
  const session = await openSession();
  const message = { ...call, stepId: 's1' };
  const { intent } = await admit([mail], session, message);
  const injecting = { ...mail, inject: { from: 'user' } } as ToolDefinition;
  expect(await admit([injecting], session, message)).toMatchObject({
    ...{ replayed: true, intent: { proposal: { intentId: intent.proposal.intentId } } },
  });
  // And the other way round: what was the runtime's then is dropped now, too.
  const second = await admit([injecting], session, { ...message, stepId: 's2' });
  expect(await admit([mail], session, { ...message, stepId: 's2' })).toMatchObject({
    ...{ replayed: true, intent: { proposal: { intentId: second.intent.proposal.intentId } } },
  });
  expect(await codeOf(admit([injecting], session, { ...message, args: { to: 'eve' } }))).toBe('idempotency_conflict');
});
