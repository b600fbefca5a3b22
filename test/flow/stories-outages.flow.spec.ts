import type { IntentResult } from '@intendant/contracts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startUpstream, type Upstream } from '../../examples/upstream/server.js';
import { audit } from './audit.js';
import type { Agent } from './clients.js';
import { eventually } from './eventually.js';
import type { Service } from './service.js';
import { Stack } from './stack.js';
import { eventsTold } from './told.js';
import { UpstreamCalls } from './upstream-calls.js';

let stack: Stack;
let calls: UpstreamCalls;
let dispatcher: Service;
/** Where the second upstream is, whenever it is there. */
let port: number;
beforeAll(async () => {
  const second = await startUpstream();
  port = second.port;
  await second.close();
  const env = { SECOND_UPSTREAM_URL: second.url };
  stack = await Stack.start({ services: ['policy', 'outbox-relay', 'reconciler'], env });
  calls = new UpstreamCalls(stack);
  dispatcher = await stack.launch('dispatcher');
});
afterAll(() => stack.stop());

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
async function onTheWire(upstream: Upstream, { intentId }: IntentResult) {
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

test('six restarts while the upstream is not there count no wire attempt and park nothing (S13)', async () => {
  const agent = await stack.agent();
  const submit = (wait?: string) =>
    agent.submit('effects.relayed', { ref: agent.runId }, { stepId: 's1', ...(wait && { wait }) });
  const attempts = async () => (await calls.load(intentId)).attempts;
  await dispatcher.stop();
  const { intentId } = await submit();
  const failed = failAway(agent, 's2');

  for (let restarts = 1; restarts <= 6; restarts += 1) {
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
  expect(tries.length).toBeGreaterThanOrEqual(6);
  expect(tries.filter(({ sent, verdict }) => sent || verdict !== 'not_executed')).toEqual([]);
  // The one that was given up meanwhile says so.
  expect(await failed).toMatchObject({ status: 'failed', error: { code: 'upstream_unavailable' } });
  expect(await stack.store.intents.list({ state: 'dead_lettered', limit: 10 })).toEqual([]);

  await whileUp(async (second) => {
    dispatcher = await stack.launch('dispatcher');
    const result = await submit('30s');
    expect(result).toMatchObject({ intentId, status: 'committed', outcome: 'executed' });
    expect(await onTheWire(second, result)).toEqual({ requests: 1, effects: 1 });
    expect((await attempts()).filter(({ sent }) => sent)).toHaveLength(1);
  });
  // Seven processes have to start.
}, 90_000);

test('what is still open when its run ends, while everything is down, expires; each call is accounted for (S12)', async () => {
  for (const service of stack.services) if (service.name === 'reconciler') await service.stop();
  const agent = await stack.agent({}, 8_000);
  const call = (ref: string) => agent.submit('effects.searched', { ref: `${agent.runId} ${ref}` }, { stepId: ref });
  const [lost, happened] = [
    { commit: false, then: 'reset', honourKey: false },
    { then: 'reset', honourKey: false },
  ] as const;
  stack.upstream.behave({ match: { bodyContains: `${agent.runId} lost` }, behaviour: lost });
  stack.upstream.behave({ match: { bodyContains: `${agent.runId} happened` }, behaviour: happened });
  const unknown = await Promise.all([call('lost'), call('happened')]);
  await eventually('their outcome is unknown', async () => {
    return (await statesOf(unknown)).every((state) => state === 'unknown');
  });
  await dispatcher.stop();
  const waiting = await Promise.all([call('w1'), call('w2'), call('w3')]);
  expect(await statesOf(waiting)).toEqual(Array(3).fill('authorized'));
  await Promise.all(stack.services.filter(({ name }) => name === 'policy').map((policy) => policy.stop()));
  // Stored for admission, and nobody there to admit it.
  const message = JSON.stringify({ tool: 'effects.searched', args: { ref: `${agent.runId} unread` }, stepId: 'u1' });
  await agent.publish(message);
  await Promise.all(stack.services.map((service) => service.stop()));
  await stack.nats.stop();

  const over = 'SELECT 1 FROM runs WHERE id = $1 AND expires_at < clock_timestamp()';
  await eventually('the run has ended', async () => (await stack.database.query(over, [agent.runId])).length === 1);
  await stack.nats.restart();
  const names = ['policy', 'outbox-relay', 'reconciler'];
  [dispatcher] = await Promise.all([stack.launch('dispatcher'), ...names.map((name) => stack.launch(name))]);

  const [missing, found] = unknown;
  for (const { intentId } of [...waiting, missing]) expect(await stack.settled(intentId)).toBe('expired');
  expect(await stack.settled(found.intentId)).toBe('committed');
  for (const { intentId } of waiting) expect(await eventsTold(stack, intentId)).toEqual(['expired']);
  const ledger = [...waiting, missing, found].map((intent) => onTheWire(stack.upstream, intent));
  expect(await Promise.all(ledger)).toEqual([
    ...Array(3).fill({ requests: 0, effects: 0 }),
    { requests: 1, effects: 0 },
    { requests: 1, effects: 1 },
  ]);
  const dead = await eventually('the unread message is kept', async () => {
    const listed = await stack.store.deadMessages.list({ limit: 10 });
    const whole = await Promise.all(listed.map(({ id }) => stack.store.deadMessages.find(id)));
    return whole.find((kept) => kept && Buffer.from(kept.payload).toString() === message);
  });
  expect(dead.error).toMatchObject({ code: 'unauthenticated' });
}, 60_000);

test('in the end log, read model and ledger agree', async () => {
  // The second upstream's ledger is judged where it is used.
  expect((await audit(stack)).filter((line) => !/^effects\.(away|relayed)/.test(line))).toEqual([]);
});
