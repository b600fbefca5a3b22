import { type IntentResult, type Ring, subjects } from '@intendant/contracts';
import { startTcpProxy, type TcpProxy } from '@intendant/testing';
import { jetstream } from '@nats-io/jetstream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { audit } from './audit.js';
import { eventually } from './eventually.js';
import { Stack } from './stack.js';
import { stopped } from './stopped-process.js';
import { eventsTold, toldAbout } from './told.js';
import { UpstreamCalls } from './upstream-calls.js';

/** Success whose lookup is down, so that nobody but the dispatcher knows of it. */
const slowSuccess = { delayMs: 700, honourKey: false, lookup: 'error' } as const;

let stack: Stack;
let calls: UpstreamCalls;
beforeAll(async () => {
  stack = await Stack.start({ services: ['policy', 'outbox-relay', 'reconciler'] });
  calls = new UpstreamCalls(stack);
});
afterAll(() => stack.stop());

async function reaches(intentId: string, state: string): Promise<void> {
  await eventually(`${intentId} is ${state}`, async () => (await calls.load(intentId)).state === state);
}

/** The errors of all services about evidence for one intent that came too late. */
function alarmsAbout(intentId: string): string[] {
  const lines = stack.services.flatMap(({ log }) => log.filter((line) => line.includes(intentId)));
  return lines.filter((line) => line.includes('"level":50') && line.includes('late evidence'));
}

async function onTheWire(intentId: string): Promise<{ requests: number; effects: number }> {
  const key = await stack.keyOf(intentId);
  return { requests: stack.requests(key).length, effects: stack.effects(key).length };
}

describe('when a dispatcher is cut off from database and bus, its leases end, and its successes land after that', () => {
  const cut: TcpProxy[] = [];
  let stalled: IntentResult;
  let parked: IntentResult;
  let closed: IntentResult;
  let answer: Promise<IntentResult>;

  beforeAll(async () => {
    const database = await startTcpProxy(Number(new URL(stack.database.url).port));
    const bus = await startTcpProxy(stack.nats.port);
    cut.push(database, bus);
    const dispatcher = await stack.launch('dispatcher', undefined, {
      INTENDANT_DATABASE_URL: database.through(stack.database.url),
      INTENDANT_NATS_URL: bus.through(stack.nats.url),
    });
    const agent = await stack.agent();
    stack.upstream.behave({ match: { bodyContains: agent.runId }, times: 3, behaviour: slowSuccess });
    const submit = (tool: string, stepId: string) => agent.submit(tool, { ref: agent.runId }, { stepId });
    [stalled, parked, closed] = await Promise.all([
      submit('effects.confirmed', 's1'),
      submit('effects.forsaken', 's2'),
      submit('effects.forsaken', 's3'),
    ]);
    for (const { intentId } of [stalled, parked, closed]) {
      await stack.upstream.waitForRequest({ key: await stack.keyOf(intentId) }, 20_000);
    }
    for (const proxy of cut) proxy.partition();

    await reaches(stalled.intentId, 'unknown');
    answer = agent.submit('effects.confirmed', { ref: agent.runId }, { stepId: 's1', wait: '30s' });
    await Promise.all([parked, closed].map(({ intentId }) => reaches(intentId, 'dead_lettered')));
    await eventually('a person may say that it did not happen', async () => {
      const evidence = 'it is on no list of theirs';
      const command = { type: 'resolve', by: 'olga', outcome: 'not_executed', externalId: null, evidence } as const;
      return (await stack.store.door.execute({ intentId: closed.intentId, command })).kind === 'accepted';
    });
    for (const { intentId } of [stalled, parked, closed]) {
      expect(await onTheWire(intentId)).toEqual({ requests: 1, effects: 1 });
    }
    for (const proxy of cut) proxy.heal();
    await eventually('its verdicts have landed', async () => {
      const intents = await Promise.all([stalled, parked, closed].map(({ intentId }) => calls.load(intentId)));
      return intents.every((intent) => intent.attempts[0]?.verdict === 'executed');
    });
    await eventually('its alarms are counted', async () => {
      const metrics = await (await fetch(`${dispatcher.url}/metrics`)).text();
      return metrics.includes('intendant_corrections_total{tool="effects.forsaken",finding="executed"} 2');
    });
    await dispatcher.stop();
  }, 90_000);
  afterAll(async () => {
    for (const proxy of cut) await proxy.close();
  });

  test('what was thought to have stalled is told as unknown and then as done, never as failed (S46)', async () => {
    expect(await answer).toMatchObject({ status: 'committed', outcome: 'executed', error: null });
    const { intentId } = stalled;
    const types = await calls.eventsOf(intentId);
    expect(types.filter((type) => type !== 'lookup_inconclusive')).toEqual([
      ...['recorded', 'authorized', 'attempt_started', 'outcome_unknown', 'committed'],
    ]);
    expect(await eventsTold(stack, intentId)).toEqual(['outcome_unknown', 'committed']);
    expect((await toldAbout(stack, intentId)).map(({ error }) => error?.code ?? null)).toEqual([
      'outcome_unknown',
      null,
    ]);
    expect(alarmsAbout(intentId)).toEqual([]);
    expect(await onTheWire(intentId)).toEqual({ requests: 1, effects: 1 });
  });

  test('a dead letter is corrected and ends once, with an alarm (S47)', async () => {
    const { intentId } = parked;
    expect(await calls.load(intentId)).toMatchObject({
      state: 'committed',
      corrections: [{ attempt: 1, finding: 'executed' }],
    });
    expect(await eventsTold(stack, intentId)).toEqual(['outcome_unknown', 'dead_lettered', 'corrected', 'committed']);
    expect(alarmsAbout(intentId)).toEqual([expect.stringContaining('late evidence')]);
    expect(await onTheWire(intentId)).toEqual({ requests: 1, effects: 1 });
  });

  test('what a person had closed as not executed stays failed, with a correction and an alarm (S47)', async () => {
    const { intentId } = closed;
    const intent = await calls.load(intentId);
    expect(intent).toMatchObject({ state: 'failed', corrections: [{ attempt: 1, finding: 'executed' }] });
    expect(await eventsTold(stack, intentId)).toEqual(['outcome_unknown', 'dead_lettered', 'failed', 'corrected']);
    const told = await toldAbout(stack, intentId);
    expect(told.at(-1)).toMatchObject({
      event: 'corrected',
      status: 'failed',
      outcome: 'executed',
      error: { retryable: false, nextAction: 'check_outcome', details: { corrected: true } },
      corrections: [{ finding: 'executed' }],
    });
    expect(alarmsAbout(intentId)).toEqual([expect.stringContaining('late evidence')]);
    expect(await onTheWire(intentId)).toEqual({ requests: 1, effects: 1 });
  });
});

test('a second dispatch that loses the race and goes does not fail the attempt that is alive (S48)', async () => {
  const proxy = await startTcpProxy(stack.nats.port);
  const env = { INTENDANT_NATS_URL: proxy.through(stack.nats.url) };
  // Stopped with its decision to start the attempt made, and not written.
  const loser = await stack.launch('dispatcher', 'door.before_append:1:pause', env);
  const agent = await stack.agent();
  stack.upstream.behave({ match: { bodyContains: agent.runId }, behaviour: { delayMs: 2_200, honourKey: false } });
  const { intentId } = await agent.submit('effects.late', { ref: agent.runId }, { stepId: 's1' });
  await stopped(loser);
  // A stopped process keeps its subscriptions; without them the other replica gets what is rung.
  proxy.partition();
  const winner = await stack.launch('dispatcher');
  const ring: Ring = { intents: [{ id: intentId, version: 1_000, tool: 'effects.late', toolVersion: 1 }] };
  await jetstream(stack.bus).publish(subjects.dispatch, JSON.stringify(ring));
  const key = await stack.keyOf(intentId);
  await stack.upstream.waitForRequest({ key }, 20_000);
  const { attempts } = await calls.load(intentId);

  proxy.heal();
  loser.kill('SIGCONT');
  await loser.stop();
  expect(await stack.settled(intentId)).toBe('committed');
  expect(await calls.eventsOf(intentId)).toEqual(['recorded', 'authorized', 'attempt_started', 'committed']);
  expect((await calls.load(intentId)).attempts).toEqual([{ ...attempts[0], verdict: 'executed' }]);
  expect(await onTheWire(intentId)).toEqual({ requests: 1, effects: 1 });
  expect(await eventsTold(stack, intentId)).toEqual(['committed']);
  await winner.stop();
  await proxy.close();
}, 60_000);

test('in the end log, read model and ledger agree', async () => {
  expect(await audit(stack)).toEqual([]);
});
