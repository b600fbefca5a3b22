import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { IntentResult } from '@intendant/contracts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startUpstream, type Upstream } from '../../examples/upstream/server.js';
import { audit } from './audit.js';
import type { Agent } from './clients.js';
import { eventually } from './eventually.js';
import { sized } from './full-size.js';
import type { Service } from './service.js';
import { Stack } from './stack.js';
import { eventsTold } from './told.js';
import { UpstreamCalls } from './upstream-calls.js';

/** A program that acts at the upstream, so that its ledger tells how often. */
const program = `#!${process.execPath}
const { UPSTREAM_URL, INTENDANT_KEY, INTENDANT_ATTEMPT_ID } = process.env;
const headers = { 'idempotency-key': INTENDANT_KEY, 'x-attempt-id': INTENDANT_ATTEMPT_ID };
fetch(UPSTREAM_URL + '/effects/local', { method: 'POST', headers, body: '{}' })
  .then((answer) => answer.text())
  .then((text) => process.stdout.write(text));
`;

let stack: Stack;
let folder: string;
let calls: UpstreamCalls;
let dispatcher: Service;
/** Where the second upstream is, whenever it is there. */
let port: number;
beforeAll(async () => {
  const second = await startUpstream();
  port = second.port;
  await second.close();
  folder = await mkdtemp(path.join(os.tmpdir(), 'intendant-outages-'));
  const env = { SECOND_UPSTREAM_URL: second.url, LOCAL_PROGRAM: path.join(folder, 'program') };
  stack = await Stack.start({ services: ['policy', 'outbox-relay', 'reconciler'], env });
  calls = new UpstreamCalls(stack);
  dispatcher = await stack.launch('dispatcher');
});
afterAll(async () => {
  await stack.stop();
  await rm(folder, { recursive: true });
});

/** The second upstream is there while `act` runs; its ledger is judged before it goes. */
async function whileUp<T>(act: (second: Upstream) => Promise<T>): Promise<T> {
  const second = await startUpstream({ port });
  try {
    const result = await act(second);
    expect((await audit(stack, second.ledger())).filter((line) => line.includes('on the wire'))).toEqual([]);
    return result;
  } finally {
    await second.close();
  }
}

/** What the ledger has for an intent: requests and effects. */
async function onTheWire(upstream: Upstream, { intentId }: { readonly intentId: string }) {
  const key = await stack.keyOf(intentId);
  const of = (kind: string) => upstream.ledger().filter((entry) => entry.kind === kind && entry.key === key).length;
  return { requests: of('request'), effects: of('effect') };
}

async function statesOf(intents: readonly IntentResult[]): Promise<string[]> {
  return Promise.all(intents.map(async ({ intentId }) => (await calls.load(intentId)).state));
}

async function restart(): Promise<void> {
  await dispatcher.stop();
  dispatcher = await stack.launch('dispatcher');
}

const failAway = (agent: Agent, stepId: string) =>
  agent.submit('effects.away', { ref: agent.runId }, { stepId, wait: '20s' });

test('what was told as failed while the upstream was down is not sent when it is back (S10)', async () => {
  const agent = await stack.agent();
  const failed = await failAway(agent, 's1');
  expect(failed).toMatchObject({
    status: 'failed',
    outcome: 'not_executed',
    error: { code: 'upstream_unavailable', message: expect.stringContaining('nothing will be sent later') },
  });

  await whileUp(async (second) => {
    await restart();
    await stack.ask('intendant.rpc.reconcile');
    expect(await failAway(agent, 's1')).toEqual({ ...failed, replayed: true });
    // Everything that comes later has passed by it.
    const later = await failAway(await stack.agent(), 's1');
    expect(later.status).toBe('committed');
    expect(await onTheWire(second, failed)).toEqual({ requests: 0, effects: 0 });
  });
  expect(await eventsTold(stack, failed.intentId)).toEqual(['failed']);
});

test('a call that is made again while recovery drains what waited takes effect once in all (S11)', async () => {
  const agent = await stack.agent();
  const failed = await failAway(agent, 'first');
  expect(failed.status).toBe('failed');
  const wait = (i: number) => agent.submit('effects.relayed', { ref: `${agent.runId} ${i}` }, { stepId: `w${i}` });
  const waiting = await Promise.all([0, 1, 2, 3, 4].map(wait));
  await eventually('each was tried in vain', async () => {
    const intents = await Promise.all(waiting.map(({ intentId }) => calls.load(intentId)));
    return intents.every(({ attempts }) => attempts[0]?.verdict === 'not_executed');
  });
  // Nobody is told "failed" of what may still be sent.
  const meanwhile = await Promise.all([0, 1, 2, 3, 4].map(wait));
  expect(meanwhile.map(({ outcome, error }) => [outcome, error])).toEqual(Array(5).fill(['undecided', null]));

  await whileUp(async (second) => {
    const [again, ...drained] = await Promise.all([failAway(agent, 'second'), ...[0, 1, 2, 3, 4].map(wait)]);
    expect(again.status).toBe('committed');
    expect(drained.map(({ intentId }) => intentId)).toEqual(waiting.map(({ intentId }) => intentId));
    for (const { intentId } of waiting) expect(await stack.settled(intentId)).toBe('committed');
    for (const intent of [again, ...waiting]) {
      expect(await onTheWire(second, intent)).toEqual({ requests: 1, effects: 1 });
    }
    expect(await onTheWire(second, failed)).toEqual({ requests: 0, effects: 0 });
  });
});

test('a call whose program is not there is parked, not lost, and sent once when it is replayed (S14)', async () => {
  const agent = await stack.agent();
  const submit = () => agent.submit('effects.local', { ref: agent.runId }, { stepId: 's1', wait: '20s' });
  const parked = await submit();
  expect(parked).toMatchObject({
    status: 'dead_lettered',
    outcome: 'undecided',
    error: { message: expect.stringContaining('Nothing happened so far'), details: { reason: 'adapter_missing' } },
  });
  const { intentId } = parked;
  expect(await onTheWire(stack.upstream, parked)).toEqual({ requests: 0, effects: 0 });
  expect((await calls.load(intentId)).attempts.filter(({ sent }) => sent)).toEqual([]);

  // Whole before it can be started.
  await writeFile(path.join(folder, 'unfinished'), program, { mode: 0o755 });
  await rename(path.join(folder, 'unfinished'), path.join(folder, 'program'));
  const command = { type: 'replay', by: 'olga', reason: 'the program is there now' } as const;
  expect(await stack.store.door.execute({ intentId, command })).toMatchObject({ kind: 'accepted' });
  expect(await stack.settled(intentId)).toBe('committed');
  expect(await onTheWire(stack.upstream, parked)).toEqual({ requests: 1, effects: 1 });
  expect(await submit()).toMatchObject({ intentId, status: 'committed', data: { effect_id: expect.any(String) } });
  expect(await eventsTold(stack, intentId)).toEqual(['dead_lettered', 'committed']);
});

test('what is still open when its run ends, while everything is down, expires; each call is accounted for (S12)', async () => {
  for (const service of stack.services) if (service.name === 'reconciler') await service.stop();
  const sender = await stack.agent({}, 6_000);
  for (const [ref, commit] of [
    ['lost', false],
    ['happened', true],
  ] as const) {
    const behaviour = { commit, then: 'reset', honourKey: false } as const;
    stack.upstream.behave({ match: { bodyContains: `${sender.runId} ${ref}` }, behaviour });
  }
  const search = (agent: Agent, ref: string) =>
    agent.submit('effects.searched', { ref: `${agent.runId} ${ref}` }, { stepId: ref });
  const [lost, happened] = await Promise.all([search(sender, 'lost'), search(sender, 'happened')]);
  await eventually('their outcome is unknown', async () => {
    return (await statesOf([lost, happened])).every((state) => state === 'unknown');
  });
  await dispatcher.stop();
  const waiter = await stack.agent({}, 4_000);
  const waiting = await Promise.all(['w1', 'w2', 'w3'].map((ref) => search(waiter, ref)));
  expect(waiting.map(({ status, error }) => [status, error])).toEqual(Array(3).fill(['authorized', null]));
  for (const service of stack.services) if (service.name === 'policy') await service.stop();
  // Stored for admission, and nobody there to admit it.
  const unread = await stack.agent({}, 2_000);
  await unread.publish(JSON.stringify({ tool: 'effects.searched', args: { ref: 'unread' }, stepId: 's1' }));
  await Promise.all(stack.services.map((service) => service.stop()));
  await stack.nats.stop();

  const runs = [sender, waiter, unread].map(({ runId }) => runId);
  const over = 'SELECT 1 FROM runs WHERE id = ANY($1) AND expires_at < clock_timestamp()';
  await eventually('the runs have ended', async () => (await stack.database.query(over, [runs])).length === 3);
  await stack.nats.restart();
  const names = ['policy', 'outbox-relay', 'reconciler'];
  [dispatcher] = await Promise.all([stack.launch('dispatcher'), ...names.map((name) => stack.launch(name))]);

  const admitted = await eventually('the unread message is admitted', async () => {
    return (await stack.store.intents.list({ runId: unread.runId, limit: 10 }))[0];
  });
  for (const { intentId } of [...waiting, admitted, lost]) expect(await stack.settled(intentId)).toBe('expired');
  expect(await stack.settled(happened.intentId)).toBe('committed');
  for (const { intentId } of [...waiting, admitted]) expect(await eventsTold(stack, intentId)).toEqual(['expired']);
  const ledger = [...waiting, admitted, lost, happened].map((intent) => onTheWire(stack.upstream, intent));
  expect(await Promise.all(ledger)).toEqual([
    ...Array(4).fill({ requests: 0, effects: 0 }),
    { requests: 1, effects: 0 },
    { requests: 1, effects: 1 },
  ]);
}, 90_000);

test('restarts while the upstream is not there count no wire attempt and park nothing (S13)', async () => {
  const agent = await stack.agent();
  const submit = (wait?: string) =>
    agent.submit('effects.relayed', { ref: agent.runId }, { stepId: 's1', ...(wait && { wait }) });
  const attempts = async () => (await calls.load(intentId)).attempts;
  await dispatcher.stop();
  const { intentId } = await submit();

  const restarts = sized(2, 6);
  for (let n = 1; n <= restarts; n += 1) {
    const before = (await attempts()).length;
    dispatcher = await stack.launch('dispatcher');
    await eventually('it was tried', async () => {
      const now = await attempts();
      return now.length > before && now.at(-1)?.verdict === 'not_executed';
    });
    await dispatcher.stop();
    expect(await submit()).toMatchObject({ outcome: 'undecided', replayed: true, error: null });
  }
  const tries = await attempts();
  expect(tries.length).toBeGreaterThanOrEqual(restarts);
  expect(tries.filter(({ sent, verdict }) => sent || verdict !== 'not_executed')).toEqual([]);
  dispatcher = await stack.launch('dispatcher');
  // One that may not be tried as often is told as it is.
  expect(await failAway(agent, 's2')).toMatchObject({ status: 'failed', error: { code: 'upstream_unavailable' } });
  expect(await stack.store.intents.list({ state: 'dead_lettered', limit: 10 })).toEqual([]);

  await whileUp(async (second) => {
    const result = await submit('30s');
    expect(result).toMatchObject({ intentId, status: 'committed', outcome: 'executed' });
    expect(await onTheWire(second, result)).toEqual({ requests: 1, effects: 1 });
    expect((await attempts()).filter(({ sent }) => sent)).toHaveLength(1);
  });
  // A process has to start for each.
}, 90_000);

test('in the end log, read model and ledger agree', async () => {
  // The second upstream's ledger is judged where it is used.
  expect((await audit(stack)).filter((line) => !/^effects\.(away|relayed)/.test(line))).toEqual([]);
});
