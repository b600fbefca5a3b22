import { type IntentResult, streams } from '@intendant/contracts';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { audit } from './audit.js';
import { eventually } from './eventually.js';
import { sized } from './full-size.js';
import { submitUntilAnswered } from './persistent-submit.js';
import type { Service } from './service.js';
import { Stack } from './stack.js';
import { messagesOf, takeBells } from './stream-listing.js';

let stack: Stack;
/** Null while none runs. */
let dispatcher: Service | null = null;

beforeAll(async () => {
  stack = await Stack.start({ services: ['policy', 'outbox-relay', 'reconciler'] });
});
afterAll(() => stack.stop());

/** So many calls of one agent, each answered before it resolves. */
async function submitMany(name: string, count: number): Promise<IntentResult[]> {
  const agent = await stack.agent();
  return Promise.all(
    Array.from({ length: count }, (_, i) =>
      submitUntilAnswered(agent, { tool: 'effects.keyed', args: { ref: `${name} ${i}` }, stepId: `${name}-${i}` }),
    ),
  );
}

/** Each test can be run alone. */
async function dispatcherRuns(): Promise<void> {
  dispatcher ??= await stack.launch('dispatcher');
}

/** Submits once and waits until its doorbell is stored; returns the intent and the place of the bell in the stream. */
async function ringFor(name: string): Promise<{ intentId: string; seq: number }> {
  const [result] = await submitMany(name, 1);
  const intentId = result?.intentId ?? '';
  const manager = await jetstreamManager(stack.bus);
  const seq = await eventually(`the doorbell of ${name} is stored`, async () => {
    const bells = await messagesOf(stack, streams.work);
    if (!bells.some(({ payload }) => payload.includes(intentId))) return null;
    return (await manager.streams.info(streams.work)).state.last_seq;
  });
  return { intentId, seq };
}

async function tookEffectOnce(intents: readonly { intentId: string }[]): Promise<void> {
  for (const { intentId } of intents) expect(await stack.settled(intentId, 30_000), intentId).toBe('committed');
  for (const { intentId } of intents) expect(stack.effects(await stack.keyOf(intentId))).toHaveLength(1);
}

describe('while no dispatcher runs', () => {
  test('work whose doorbells are never delivered again, or were never stored, is announced again (S58, S62)', async () => {
    const given = await ringFor('given-up');
    // "Never deliver again": what a server does with a message that has reached its maximum of deliveries.
    const consumer = await jetstream(stack.bus).consumers.get(streams.work, 'dispatcher');
    const bells = await consumer.fetch({ max_messages: 100, expires: 1_000 });
    for await (const bell of bells) {
      bell.term();
      if (bell.seq >= given.seq) break;
    }
    const vanished = await ringFor('vanished');
    // Acknowledged to the relay, and gone for the dispatchers: what a lost leader or an unflushed page leaves behind.
    await takeBells(stack, vanished.seq);
    const manager = await jetstreamManager(stack.bus);
    expect((await manager.consumers.info(streams.work, 'dispatcher')).num_pending).toBe(0);

    await dispatcherRuns();
    await tookEffectOnce([given, vanished]);
  });

  test('a server that comes back with an empty store gets its streams again and every intent is announced (S60)', async () => {
    await dispatcher?.stop();
    dispatcher = null;
    const waiting = await submitMany('stored', 25);
    await eventually('all doorbells have left the outbox', async () => {
      return (await stack.database.query('SELECT 1 FROM outbox')).length === 0;
    });
    await stack.nats.kill();
    stack.nats.wipe();
    await stack.nats.restart();

    await dispatcherRuns();
    await tookEffectOnce(waiting);
    const manager = await jetstreamManager(stack.bus);
    for (const name of Object.values(streams)) expect((await manager.streams.info(name)).config.name).toBe(name);
  });
});

test('consumers that are deleted under the services are made again, and work goes on (S63)', async () => {
  await dispatcherRuns();
  const manager = await jetstreamManager(stack.bus);
  await manager.consumers.delete(streams.intents, 'policy');
  await manager.consumers.delete(streams.work, 'dispatcher');
  const agent = await stack.agent();
  // Published, not requested: only the consumer leads it to the policy service.
  await agent.publish(JSON.stringify({ tool: 'effects.keyed', args: { ref: 'orphan' }, stepId: 's1' }));
  const intent = await eventually('the message is admitted', async () => {
    return (await stack.store.intents.list({ runId: agent.runId, limit: 1 }))[0];
  });
  await tookEffectOnce([intent]);
  await eventually('both consumers are there again', async () => {
    await manager.consumers.info(streams.intents, 'policy');
    return manager.consumers.info(streams.work, 'dispatcher');
  });
});

test('two hundred intents end once each though NATS loses all it stored in the middle of them', async () => {
  await dispatcherRuns();
  stack.upstream.behave({ match: { path: '/effects/keyed' }, times: 'always', behaviour: { delayMs: 200 } });
  const before = stack.effects().length;
  const submits = submitMany('wiped', 200);
  await eventually('some have taken effect', () => stack.effects().length >= before + 20);
  await stack.nats.kill();
  expect(stack.effects().length).toBeLessThan(before + 180);
  stack.nats.wipe();
  await stack.nats.restart();

  const intents = await submits;
  await tookEffectOnce(intents);
  expect(new Set(intents.map(({ intentId }) => intentId)).size).toBe(200);
  expect(stack.effects()).toHaveLength(before + 200);
});

test(
  'services outlast an outage of NATS and go on by themselves when it is back (S64)',
  async () => {
    stack.upstream.reset();
    stack.upstream.behave({ match: { bodyContains: 'before-the-outage' }, times: 3, behaviour: { delayMs: 600 } });
    const running = await submitMany('before-the-outage', 3);
    for (const { intentId } of running)
      await stack.upstream.waitForRequest({ key: await stack.keyOf(intentId) }, 5_000);
    const since = performance.now();
    await stack.nats.stop();
    // Verdicts need only PostgreSQL.
    await tookEffectOnce(running);
    // Longer than the client library tries by itself, in the full size.
    await eventually('it has been away for a while', () => performance.now() - since > sized(8_000, 60_000), 90_000);
    const living = stack.services.filter((service) => service.name !== 'dispatcher' || service === dispatcher);
    for (const { url } of living) expect((await fetch(`${url}/readyz`)).status).toBe(503);

    await stack.nats.restart();
    await tookEffectOnce(await submitMany('after-the-outage', 20));
    for (const { name, url } of living) {
      await eventually(`${name} is ready`, async () => (await fetch(`${url}/readyz`)).ok);
    }
  },
  sized(30_000, 150_000),
);

test('the log, the read model and the ledger agree about all of it (T1)', async () => {
  expect(await audit(stack)).toEqual([]);
});
