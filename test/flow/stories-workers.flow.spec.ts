import { type IntentResult, type Ring, streams, subjects } from '@intendant/contracts';
import { startTcpProxy, type TcpProxy } from '@intendant/testing';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Behaviour } from '../../examples/upstream/server.js';
import { audit } from './audit.js';
import { eventually } from './eventually.js';
import { submitUntilAnswered } from './persistent-submit.js';
import { runService } from './run-service.js';
import type { Service } from './service.js';
import { Stack } from './stack.js';
import { stopped } from './stopped-process.js';

const searched = { path: '/effects/searched' };
const lost = { commit: false, then: 'reset' } as const;
const unanswered = { then: 'status:502' } as const;

let stack: Stack;
let proxy: TcpProxy;
let dispatcher: Service;
let relay: Service;

beforeAll(async () => {
  stack = await Stack.start({ services: ['policy'] });
  proxy = await startTcpProxy(stack.nats.port);
  [dispatcher, relay] = await Promise.all([
    stack.launch('dispatcher', undefined, { INTENDANT_NATS_URL: proxy.through(stack.nats.url) }),
    stack.launch('outbox-relay'),
  ]);
  misbehave();
});
afterAll(async () => {
  await stack.stop();
  await proxy.close();
});

/** What goes wrong, by text in the call; no key is looked at ever, so each further request would be a further effect. */
function misbehave(faults: Readonly<Record<string, Behaviour>> = {}): void {
  stack.upstream.reset();
  for (const [bodyContains, behaviour] of Object.entries(faults)) {
    stack.upstream.behave({ match: { ...searched, bodyContains }, behaviour: { honourKey: false, ...behaviour } });
  }
  stack.upstream.behave({ match: searched, times: 'always', behaviour: { honourKey: false } });
}

async function submitSearched(ref: string): Promise<IntentResult> {
  return (await stack.agent()).submit('effects.searched', { ref }, { stepId: 's1' });
}

async function reaches(id: string, state: string): Promise<void> {
  await eventually(`${id} is ${state}`, async () => (await stack.store.intents.load(id))?.state === state);
}

async function typesOf(id: string): Promise<string[]> {
  return (await stack.store.intents.history(id)).map(({ event }) => event.type);
}

/** What the ledger has for an intent: requests on the wire and effects. */
async function onTheWire(id: string): Promise<{ requests: number; effects: number }> {
  const key = await stack.keyOf(id);
  return { requests: stack.requests(key).length, effects: stack.effects(key).length };
}

test('one pass of reconcile settles what is unknown without any service for it, and prints what it did', async () => {
  misbehave({ once: unanswered });
  const { intentId } = await submitSearched('once');
  await reaches(intentId, 'unknown');

  const { how, stdout, stderr } = await runService('reconciler', stack.environment(), ['--once']);

  expect(how, stderr).toBe(0);
  // Nothing but the counts: a script reads them.
  expect(JSON.parse(stdout)).toMatchObject({
    'settle-unknown': { found: 1, changed: 1, failed: 0 },
    'rescue-stuck': { found: 0, changed: 0, failed: 0 },
  });
  expect(await stack.settled(intentId)).toBe('committed');
  expect(await onTheWire(intentId)).toEqual({ requests: 1, effects: 1 });
});

test('a second replica that gets the message does not send while the first attempt is open, nor after its lease (S39)', async () => {
  // The healthy one hears nothing until the other one has the call in hand.
  proxy.partition();
  const first = await startTcpProxy(stack.nats.port);
  const env = { INTENDANT_NATS_URL: first.through(stack.nats.url) };
  const stuck = await stack.launch('dispatcher', 'dispatcher.after_answer:1:pause', env);
  const { intentId } = await submitSearched('outlived');
  await stopped(stuck);
  first.partition();
  const manager = await jetstreamManager(stack.bus);
  const heldByTheFirst = (await manager.consumers.info(streams.work, 'dispatcher')).num_ack_pending;
  proxy.heal();

  const ring: Ring = { intents: [{ id: intentId, version: 1_000, tool: 'effects.searched', toolVersion: 1 }] };
  const bell = await jetstream(stack.bus).publish(subjects.dispatch, JSON.stringify(ring));
  await eventually('the second replica has answered the bell', async () => {
    const { delivered, num_ack_pending } = await manager.consumers.info(streams.work, 'dispatcher');
    return delivered.stream_seq >= bell.seq && num_ack_pending <= heldByTheFirst;
  });
  expect((await typesOf(intentId)).at(-1)).toBe('attempt_started');
  expect(await onTheWire(intentId)).toEqual({ requests: 1, effects: 1 });

  await stack.launch('reconciler');
  expect(await stack.settled(intentId)).toBe('committed');
  first.heal();
  stuck.kill('SIGCONT');
  await stuck.stop();
  await first.close();
  expect(await typesOf(intentId)).toEqual([
    'recorded',
    'authorized',
    'attempt_started',
    'outcome_unknown',
    'committed',
  ]);
  expect(await onTheWire(intentId)).toEqual({ requests: 1, effects: 1 });
});

test('submits in the middle of a recovery sweep take effect once (S42)', async () => {
  const agent = await stack.agent();
  const state = { booted: false };
  const booting = stack.launch('reconciler').finally(() => {
    state.booted = true;
  });
  const ids: string[] = [];
  while (!state.booted) {
    const step = `s${ids.length}`;
    const [one, again] = await Promise.all([
      submitUntilAnswered(agent, { tool: 'effects.searched', args: { ref: step }, stepId: step }),
      submitUntilAnswered(agent, { tool: 'effects.searched', args: { ref: step }, stepId: step }),
    ]);
    expect(again.intentId).toBe(one.intentId);
    ids.push(one.intentId);
  }
  await booting;
  for (const id of ids) expect(await stack.settled(id)).toBe('committed');
  for (const id of ids) expect(await onTheWire(id)).toEqual({ requests: 1, effects: 1 });
});

test('a decision that was overtaken by another reconciler changes nothing: one decision, at most one resend (S43)', async () => {
  const sound = stack.services.filter(({ name }) => name === 'reconciler');
  await Promise.all(sound.map((reconciler) => reconciler.stop()));
  misbehave({ happened: unanswered, lost });
  const [happened, missing] = await Promise.all([submitSearched('happened'), submitSearched('lost')]);
  await Promise.all([happened, missing].map(({ intentId }) => reaches(intentId, 'unknown')));

  const slow = await stack.launch('reconciler', 'reconciler.after_lookup:1:pause');
  await stopped(slow);
  // Its claim holds for half a minute; the test lets that time pass at once.
  await stack.database.query("UPDATE intents SET wake_at = clock_timestamp() WHERE state = 'unknown'");
  await stack.launch('reconciler');
  for (const { intentId } of [happened, missing]) expect(await stack.settled(intentId)).toBe('committed');
  slow.kill('SIGCONT');
  await slow.stop();

  const decisions = (types: readonly string[]) => types.filter((type) => type === 'committed' || type === 'authorized');
  expect(decisions(await typesOf(happened.intentId))).toEqual(['authorized', 'committed']);
  expect(await onTheWire(happened.intentId)).toEqual({ requests: 1, effects: 1 });
  expect(decisions(await typesOf(missing.intentId))).toEqual(['authorized', 'authorized', 'committed']);
  expect(await onTheWire(missing.intentId)).toEqual({ requests: 2, effects: 1 });
});

test('two reconcilers settle a dozen unknown outcomes with one decision each (S43)', async () => {
  await Promise.all([stack.launch('reconciler'), stack.launch('reconciler')]);
  // More in a row would open the circuit of the upstream.
  const refs = Array.from({ length: 12 }, (_, i) => `many ${i}`);
  misbehave(Object.fromEntries(refs.map((ref, i) => [`"${ref}"`, i % 2 === 0 ? lost : unanswered])));
  const ids = await Promise.all(refs.map(async (ref) => (await submitSearched(ref)).intentId));
  for (const id of ids) expect(await stack.settled(id)).toBe('committed');
  for (const [i, id] of ids.entries()) {
    const authorized = (await typesOf(id)).filter((type) => type === 'authorized');
    expect(authorized).toHaveLength(i % 2 === 0 ? 2 : 1);
    expect(await onTheWire(id)).toEqual({ requests: i % 2 === 0 ? 2 : 1, effects: 1 });
  }
});

test('a relay that dies and comes back while a dispatcher works changes nothing for the call (S44)', async () => {
  misbehave({ slow: { delayMs: 700 } });
  const { intentId } = await submitSearched('slow');
  await stack.upstream.waitForRequest({ key: await stack.keyOf(intentId) }, 5_000);
  relay.kill('SIGKILL');
  expect(await relay.ended).toBe('SIGKILL');
  relay = await stack.launch('outbox-relay');

  expect(await stack.settled(intentId)).toBe('committed');
  expect(await onTheWire(intentId)).toEqual({ requests: 1, effects: 1 });
});

test('three replicas of every role that start at once share the work without doubling any of it (S45)', async () => {
  await dispatcher.stop();
  const agent = await stack.agent();
  const submit = (step: string) =>
    submitUntilAnswered(agent, { tool: 'effects.searched', args: { ref: step }, stepId: step });
  const steps = (name: string) => Array.from({ length: 15 }, (_, i) => submit(`${name}-${i}`));
  const waiting = await Promise.all(steps('waiting'));
  const launched = Promise.all([stack.launch('standalone'), stack.launch('standalone'), stack.launch('standalone')]);
  const during = await Promise.all(steps('during'));
  await launched;
  const after = await Promise.all(steps('after'));

  for (const { intentId } of [...waiting, ...during, ...after]) {
    expect(await stack.settled(intentId)).toBe('committed');
    expect(await onTheWire(intentId)).toEqual({ requests: 1, effects: 1 });
  }
});

test('the log, the read model and the ledger agree about all of it', async () => {
  expect(await audit(stack)).toEqual([]);
});
