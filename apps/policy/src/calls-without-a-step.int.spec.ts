import { defaultApproval, type Session, type ToolDefinition } from '@intendant/contracts';
import { ApprovalSeals } from '@intendant/credentials';
import type { Intent, Verdict } from '@intendant/intent';
import { parsePolicyFiles } from '@intendant/rules';
import { Store } from '@intendant/store';
import { createDatabase, type TestDatabase, toolAt } from '@intendant/testing';
import { createRegistry } from '@intendant/tools';
import { ulid } from 'ulid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Admission, type Circumstances } from './admission.js';
import { rulesOfFiles } from './rules-of-files.js';

const noRules = rulesOfFiles(parsePolicyFiles([], []));
const seals = new ApprovalSeals('approval-secret-of-this-spec-0123456789');
let database: TestDatabase;
let stores: [Store, Store];

beforeAll(async () => {
  database = await createDatabase();
  const open = (name: string) => Store.open({ url: database.url, name });
  stores = [await open('without-a-step-1'), await open('without-a-step-2')];
});
afterAll(async () => {
  expect(await stores[0].verify()).toEqual([]);
  await Promise.all(stores.map((store) => store.close()));
  await database.drop();
});

const { terms } = toolAt('http://127.0.0.1:1');
const tool = (name: string, effect: ToolDefinition['effect'], more: Partial<ToolDefinition> = {}) =>
  toolAt('http://127.0.0.1:1', { tool: { name, effect, permission: 'all', terms: { ...terms, effect }, ...more } });
const asked = { approval: { ...defaultApproval, required: true } };
const tools = [
  tool('orders.get', 'read'),
  tool('orders.audit', 'read', asked),
  tool('orders.note', 'write'),
  tool('orders.refund', 'destructive'),
  tool('orders.approved', 'write', asked),
  tool('orders.settle', 'write', { phases: ['resolve'] }),
];
const registry = createRegistry(tools);
const without = (name: string) => createRegistry(tools.filter((each) => each.name !== name));

async function openRun(): Promise<Session> {
  const run = { id: `run_${ulid()}`, tenant: 'acme', user: 'ada', permissions: ['all'], phase: 'look' } as const;
  const opened = { ...run, profile: 'batch', openedBy: 'spec' } as const;
  const { expiresAt } = await stores[0].runs.open(opened, 600_000);
  return { ...run, profile: 'batch', runId: run.id, expiresAt };
}

let next = 0;
const door = () => stores[next % 2 === 0 ? 0 : 1].door;
/** Through one of two policies in turns. */
function submit(session: Session, name: string, over: Partial<Circumstances> = {}, loaded = registry, more = {}) {
  next += 1;
  const payload = new TextEncoder().encode(JSON.stringify({ tool: name, args: { order: 'o1' }, ...more }));
  const admission = new Admission(stores[next % 2 === 0 ? 0 : 1], loaded, noRules, seals);
  return admission.admit(session, payload, { traceparent: null, answered: true, ...over });
}
const idOf = ({ intent }: { intent: Intent }) => intent.proposal.intentId;
const refused = (submitted: Promise<unknown>) =>
  submitted.then(
    () => null,
    (thrown) => thrown.error,
  );

async function end(intent: Intent, verdict: Verdict): Promise<Intent> {
  const { intentId } = intent.proposal;
  const attemptId = ulid();
  await door().execute({ intentId, command: { type: 'start_attempt', attemptId } });
  const result = await door().execute({ intentId, command: { type: 'record_verdict', attemptId, verdict, jitter: 0 } });
  return result.intent as Intent;
}
async function say(intent: Intent, what: 'refuse' | 'cancel'): Promise<Intent> {
  const approver = { name: 'olga', roles: ['approver'], groups: [] };
  const commands = {
    refuse: { type: 'refuse', approver, digest: null, reason: 'no' },
    cancel: { type: 'cancel', by: 'ada' },
  } as const;
  const result = await door().execute({ intentId: intent.proposal.intentId, command: commands[what] });
  return result.intent as Intent;
}
const executed = { kind: 'executed', data: {} } as const;
const unknown = { kind: 'unknown', cause: 'reset', detail: 'the answer was lost' } as const;
const away = { kind: 'not_executed', cause: 'http_422', detail: 'no', transient: false, retryAfterMs: null } as const;

type Ending = (intent: Intent) => Promise<Intent>;
const cancel: Ending = (intent) => say(intent, 'cancel');
/** What is over and leads to nothing more. */
const again: [string, string, string, Ending][] = [
  ['a read that was answered', 'orders.get', 'committed', (intent) => end(intent, executed)],
  ['a read that failed', 'orders.get', 'failed', (intent) => end(intent, away)],
  ['a read that was cancelled', 'orders.get', 'cancelled', cancel],
  ['a write that failed', 'orders.note', 'failed', (intent) => end(intent, away)],
  ['a destructive call that failed', 'orders.refund', 'failed', (intent) => end(intent, away)],
  ['a destructive call that was cancelled', 'orders.refund', 'cancelled', cancel],
  ['a call that people were asked about and that was cancelled', 'orders.approved', 'cancelled', cancel],
  ['a call that the phase forbade', 'orders.settle', 'denied', async (intent) => intent],
];
/** What has happened, may have happened, may yet happen, or was said no to. */
const kept: [string, string, string, Ending][] = [
  ['a write that took effect', 'orders.note', 'committed', (intent) => end(intent, executed)],
  ['a destructive call that took effect', 'orders.refund', 'committed', (intent) => end(intent, executed)],
  ['a write that may have happened', 'orders.note', 'unknown', (intent) => end(intent, unknown)],
  ['a read that may have happened', 'orders.get', 'dispatching', async (intent) => start(intent)],
  ['a read that is open', 'orders.get', 'authorized', async (intent) => intent],
  ['a write that is open', 'orders.note', 'authorized', async (intent) => intent],
  ['a call that people are asked about', 'orders.approved', 'awaiting_approval', async (intent) => intent],
  ['a write that a person has refused', 'orders.approved', 'denied', (intent) => say(intent, 'refuse')],
  ['a read that a person has refused', 'orders.audit', 'denied', (intent) => say(intent, 'refuse')],
  ['a write that was reported as failed and has happened', 'orders.note', 'failed', corrected],
];
async function start(intent: Intent): Promise<Intent> {
  const { intentId } = intent.proposal;
  return (await door().execute({ intentId, command: { type: 'start_attempt', attemptId: ulid() } })).intent as Intent;
}
async function corrected(intent: Intent): Promise<Intent> {
  const attemptId = ulid();
  const { intentId } = intent.proposal;
  await door().execute({ intentId, command: { type: 'start_attempt', attemptId } });
  const verdicts = [away, executed];
  for (const verdict of verdicts) {
    await door().execute({ intentId, command: { type: 'record_verdict', attemptId, verdict, jitter: 0 } });
  }
  return (await stores[0].intents.load(intentId)) as Intent;
}

describe.each(again)('after %s, the same call without a step', (_, name, state, ending) => {
  test('is a new one, and is known by its arguments again', async () => {
    const session = await openRun();
    const seen: string[] = [];
    for (let turn = 0; turn < 4; turn += 1) {
      const made = await submit(session, name);
      expect(made.replayed).toBe(false);
      expect(seen).not.toContain(idOf(made));
      seen.push(idOf(made));
      if (made.intent.state !== 'denied') {
        expect(await submit(session, name), 'it is open').toMatchObject({
          ...{ replayed: true, intent: { proposal: { intentId: idOf(made) } } },
        });
      }
      expect(await ending(made.intent)).toMatchObject({ state });
    }
    const keys = await Promise.all(seen.map(async (id) => (await stores[0].intents.load(id))?.proposal.key));
    expect(new Set(keys).size).toBe(4);
  });

  test('is one new one when it comes many times at once over two replicas', async () => {
    const session = await openRun();
    const first = await submit(session, name);
    await ending(first.intent);
    const made = await Promise.all(Array.from({ length: 12 }, () => submit(session, name)));
    // What is denied at once is over at once, so who comes a little later may make it again.
    if (first.intent.state === 'denied') return;
    expect(new Set(made.map(idOf)).size).toBe(1);
    expect(made.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(made.map(idOf)).not.toContain(idOf(first));
  });

  test('is not made by a published message, which may be delivered twice and has nobody to answer to', async () => {
    const session = await openRun();
    const first = await submit(session, name, { answered: false });
    await ending(first.intent);
    expect(await submit(session, name, { answered: false })).toMatchObject({
      ...{ replayed: true, intent: { proposal: { intentId: idOf(first) } } },
    });
  });

  test('is made once by a caller who says after which, however often and late that is heard', async () => {
    const session = await openRun();
    const first = await submit(session, name, { after: 'none' });
    expect(first.replayed).toBe(false);
    await ending(first.intent);
    const told = await refused(submit(session, name, { after: 'none' }));
    expect(told).toMatchObject({ code: 'conflict', details: { after: idOf(first) } });
    const second = await submit(session, name, { after: idOf(first) });
    expect(second.replayed).toBe(false);
    await ending(second.intent);
    expect(await submit(session, name, { after: idOf(first) })).toMatchObject({
      ...{ replayed: true, intent: { proposal: { intentId: idOf(second) } } },
    });
    expect(await stores[0].intents.list({ runId: session.runId, limit: 10 })).toHaveLength(2);
  });

  test('is refused as a new one where it may not be made now', async () => {
    const session = await openRun();
    for (let turn = 0; turn < 2; turn += 1) await ending((await submit(session, name)).intent);
    expect(await refused(submit(session, name, {}, without(name)))).toMatchObject({ code: 'unknown_tool' });
  });

  test('under a step is answered from that step for ever', async () => {
    const session = await openRun();
    const first = await submit(session, name, { stepId: 's1' });
    await ending(first.intent);
    for (const after of [null, 'none', idOf(first)]) {
      expect(await submit(session, name, { stepId: 's1', after })).toMatchObject({
        ...{ replayed: true, intent: { proposal: { intentId: idOf(first) } } },
      });
    }
  });
});

test.each(kept)('after %s, the same call without a step is answered from that', async (_, name, state, ending) => {
  const session = await openRun();
  const first = await submit(session, name);
  expect(await ending(first.intent)).toMatchObject({ state });
  for (const over of [{}, { after: 'none' }, { after: idOf(first) }, { answered: false }]) {
    for (const loaded of [registry, without(name)]) {
      expect(await submit(session, name, over, loaded)).toMatchObject({
        ...{ replayed: true, intent: { state, proposal: { intentId: idOf(first) } } },
      });
    }
  }
});

test('what took effect after it had failed is what the same call is answered from, also when it may not be made any more', async () => {
  const session = await openRun();
  await end((await submit(session, 'orders.note')).intent, away);
  const second = await submit(session, 'orders.note');
  await end(second.intent, executed);
  for (const loaded of [registry, without('orders.note')]) {
    expect(await submit(session, 'orders.note', {}, loaded)).toMatchObject({
      ...{ replayed: true, intent: { state: 'committed', proposal: { intentId: idOf(second) } } },
    });
  }
});

test('other arguments, another tool and the sandbox are other calls, each with its own past', async () => {
  const session = await openRun();
  const stagedTool = { ...tool('orders.staged', 'write'), sandbox: terms && toolAt('http://127.0.0.1:1').upstream };
  const loaded = createRegistry([stagedTool as ToolDefinition]);
  const staged = (more: object) => submit(session, 'orders.staged', {}, loaded, more);
  const variants = [{}, { sandbox: true }, { args: { order: 'o2' } }];
  for (let turn = 0; turn < 3; turn += 1) {
    const made = [];
    for (const more of variants) made.push(await staged(more));
    expect(made.map(({ replayed }) => replayed)).toEqual([false, false, false]);
    for (const { intent } of made) await end(intent, away);
  }
});
