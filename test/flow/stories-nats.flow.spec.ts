import { cpSync, rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { IntentResult } from '@intendant/contracts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { audit } from './audit.js';
import { eventually } from './eventually.js';
import { sized } from './full-size.js';
import { submitUntilAnswered } from './persistent-submit.js';
import type { Service } from './service.js';
import { Stack } from './stack.js';

let stack: Stack;
let dispatcher: Service;
let copy: string;
beforeAll(async () => {
  copy = await mkdtemp(path.join(os.tmpdir(), 'intendant-old-store-'));
  stack = await Stack.start({ services: ['policy', 'policy', 'outbox-relay', 'reconciler', 'dispatcher'] });
  dispatcher = await stack.launch('dispatcher');
});
afterAll(async () => {
  await stack.stop();
  await rm(copy, { recursive: true });
});

/** So many calls of one agent, each answered before it resolves. */
async function submitMany(name: string, count: number): Promise<IntentResult[]> {
  const agent = await stack.agent();
  const call = (i: number) => ({ tool: 'effects.keyed', args: { ref: `${name} ${i}` }, stepId: `${name}-${i}` });
  const options = { tryMs: 1_000, timeoutMs: 60_000 };
  return Promise.all(Array.from({ length: count }, (_, i) => submitUntilAnswered(agent, call(i), options)));
}

async function tookEffectOnce(intents: readonly { intentId: string }[]): Promise<void> {
  for (const { intentId } of intents) expect(await stack.settled(intentId, 30_000), intentId).toBe('committed');
  for (const { intentId } of intents) expect(stack.effects(await stack.keyOf(intentId))).toHaveLength(1);
}

test(
  'a server that is restarted again and again under load keeps nobody from being dispatched, once each (S59)',
  async () => {
    const restarts = sized(4, 20);
    const perRestart = 10;
    stack.upstream.behave({ match: { bodyContains: 'restarted' }, times: 'always', behaviour: { delayMs: 100 } });
    const submits: Promise<IntentResult[]>[] = [];
    for (let restart = 0; restart < restarts; restart += 1) {
      const before = stack.effects().length;
      submits.push(submitMany(`restarted-${restart}`, perRestart));
      // Killed in every other turn: nothing is flushed then.
      if (restart % 2 === 1) await stack.nats.kill();
      await stack.nats.restart();
      await eventually('something takes effect again', () => stack.effects().length > before, 30_000);
    }
    const intents = (await Promise.all(submits)).flat();
    await tookEffectOnce(intents);
    expect(new Set(intents.map(({ intentId }) => intentId)).size).toBe(restarts * perRestart);
    for (const { name, url } of stack.services) {
      await eventually(`${name} is ready`, async () => (await fetch(`${url}/readyz`)).ok);
    }
  },
  sized(60_000, 300_000),
);

test('a server that comes back with an old copy of its store: what is done stays done, what waits is done once (S61)', async () => {
  const done = await submitMany('before-the-copy', 10);
  await tookEffectOnce(done);
  for (const service of stack.services) if (service.name === 'dispatcher') await service.stop();
  const copied = await submitMany('in-the-copy', 10);
  const outboxIsEmpty = () =>
    eventually('the outbox is empty', async () => (await stack.database.query('SELECT 1 FROM outbox')).length === 0);
  await outboxIsEmpty();
  // As a backup takes it, under the running server.
  cpSync(stack.nats.storeDir, copy, { recursive: true });

  dispatcher = await stack.launch('dispatcher');
  await tookEffectOnce(copied);
  const between = await submitMany('after-the-copy', 10);
  await tookEffectOnce(between);
  await dispatcher.stop();
  const lost = await submitMany('lost-with-the-store', 10);
  await outboxIsEmpty();
  await stack.nats.kill();
  rmSync(stack.nats.storeDir, { recursive: true });
  cpSync(copy, stack.nats.storeDir, { recursive: true });
  await stack.nats.restart();

  // Bells of what is done ring again; those of what waits never do.
  dispatcher = await stack.launch('dispatcher');
  await tookEffectOnce([...done, ...copied, ...between, ...lost]);
  await tookEffectOnce(await submitMany('after-the-restore', 10));
}, 90_000);

test('in the end log, read model and ledger agree', async () => {
  expect(await audit(stack)).toEqual([]);
});
