import { afterEach, beforeEach, expect, test } from 'vitest';
import { hang, isGenuine, type Receiver, startReceiver } from '../../apps/notifier/src/receiver.spec-helper.js';
import { Stack } from './stack.js';

const secret = `whsec_${Buffer.alloc(24, 3).toString('base64')}`;
let receiver: Receiver;
let stack: Stack;
const stacks: Stack[] = [];
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(async () => {
  await Promise.all(stacks.splice(0).map((each) => each.stop()));
  await receiver.close();
});

async function start(services: readonly string[]): Promise<void> {
  const env = {
    INTENDANT_WEBHOOKS: JSON.stringify([{ name: 'ops', url: receiver.url, secret, tenant: 'acme' }]),
    INTENDANT_PUBLIC_URL: 'https://intendant.example',
  };
  stack = await Stack.start({ services, env });
  stacks.push(stack);
}

/** An intent that only a person can settle. */
async function deadLetter(): Promise<string> {
  const agent = await stack.agent();
  stack.upstream.behave({ match: { bodyContains: 'lost' }, behaviour: { then: 'reset' } });
  const { intentId } = await agent.submit('effects.blind', { ref: 'lost' });
  expect(await stack.settled(intentId)).toBe('dead_lettered');
  return intentId;
}

const told = (intentId: string) =>
  receiver.deliveries.filter(({ body }) => {
    const { type, subject } = JSON.parse(body);
    return subject === intentId && type === 'intendant.intent.dead_lettered';
  });

test('a notifier that dies between a delivery and its acknowledgement is followed by one that delivers it again', async () => {
  await start(['policy', 'outbox-relay', 'dispatcher', 'reconciler']);
  const notifier = await stack.launch('notifier');
  receiver.next.push(hang, hang, hang, hang);
  const intentId = await deadLetter();
  await expect.poll(() => told(intentId).length).toBe(1);
  notifier.kill('SIGKILL');
  await notifier.ended;
  receiver.next.length = 0;
  await stack.launch('notifier');
  await expect.poll(() => told(intentId).length, { timeout: 25_000 }).toBe(2);
  const [first, second] = told(intentId);
  expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
  expect(second?.body).toBe(first?.body);
  for (const delivery of told(intentId)) expect(isGenuine(delivery, secret)).toBe(true);
}, 60_000);

test('one process that hosts all services tells people too', async () => {
  await start(['standalone']);
  const intentId = await deadLetter();
  await expect.poll(() => told(intentId).length).toBe(1);
  expect(JSON.parse(told(intentId)[0]?.body ?? '')).toMatchObject({
    tenant: 'acme',
    link: `https://intendant.example/v1/intents/${intentId}`,
    data: { intentId, status: 'dead_lettered' },
  });
});
