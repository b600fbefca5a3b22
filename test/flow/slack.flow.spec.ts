import { createHash, createHmac } from 'node:crypto';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Receiver, startReceiver } from '../../apps/notifier/src/receiver.spec-helper.js';
import { eventually } from './eventually.js';
import { Stack } from './stack.js';

const signingSecret = 'signing-secret-of-the-flow-tests';
const digestOf = (text: string) => createHash('sha256').update(text).digest('hex');
let slack: Receiver;
let stack: Stack;

beforeAll(async () => {
  slack = await startReceiver();
  stack = await Stack.start({
    toolsDir: path.join(path.dirname(fileURLToPath(import.meta.url)), 'tools-slack'),
    env: {
      INTENDANT_OPERATOR_KEYS: `olga@acme:approver=${digestOf('key of olga')}`,
      INTENDANT_SLACK: JSON.stringify({
        botToken: 'xoxb-of-the-flow-tests',
        signingSecret,
        channels: { acme: 'C0ACME' },
        users: { U0OLGA: 'olga' },
        apiUrl: `${slack.url}/api/`,
      }),
    },
  });
});
afterAll(async () => {
  await stack?.stop();
  await slack?.close();
});
beforeEach(() => {
  slack.deliveries.length = 0;
});

interface Button {
  readonly action_id: string;
  readonly value: string;
}

/** Submits a call, and reads the buttons of what the channel is told about it. */
async function asked(ref: string): Promise<{ intentId: string; buttons: readonly Button[] }> {
  // What Slack answers to a message; whatever else it is sent, it takes.
  slack.next.push((response) => response.end('{"ok":true}'));
  const agent = await stack.agent();
  const { intentId } = await agent.submit('effects.asked', { ref });
  const told = await eventually('Slack is told', () =>
    slack.deliveries.find((each) => each.path === '/api/chat.postMessage' && each.body.includes(intentId)),
  );
  const { blocks } = JSON.parse(told.body) as { blocks: { type: string; elements?: Button[] }[] };
  expect(told.body).toContain(`Make effect ${ref}`);
  return { intentId, buttons: blocks.find(({ type }) => type === 'actions')?.elements ?? [] };
}

/** Clicks, as Slack tells it to the gateway; resolves with what whoever clicked reads. */
async function click(user: string, button: Button | undefined): Promise<string> {
  const answers = () => slack.deliveries.filter((each) => each.path === '/actions/1');
  const before = answers().length;
  const payload = {
    type: 'block_actions',
    user: { id: user },
    response_url: `${slack.url}/actions/1`,
    actions: [button],
  };
  const body = new URLSearchParams({ payload: JSON.stringify(payload) }).toString();
  const at = String(Math.floor(Date.now() / 1_000));
  const signature = createHmac('sha256', signingSecret).update(`v0:${at}:${body}`).digest('hex');
  const { status } = await fetch(`${stack.url}/v1/slack/interactions`, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'x-slack-request-timestamp': at,
      'x-slack-signature': `v0=${signature}`,
    },
  });
  expect(status).toBe(200);
  return (await eventually('whoever clicked is answered', () => answers()[before])).body;
}

test('what an operator approves in Slack happens once, however often and by whomever it is clicked', async () => {
  const { intentId, buttons } = await asked('approved');
  expect(buttons.map(({ action_id }) => action_id)).toEqual(['approve', 'refuse']);
  const key = await stack.keyOf(intentId);
  expect(await click('U0EVE', buttons[0])).toContain('you (U0EVE) are not an operator here');
  expect(stack.requests(key)).toEqual([]);
  expect(await click('U0OLGA', buttons[0])).toContain('You have approved effects.asked');
  expect(await stack.settled(intentId)).toBe('committed');
  await click('U0OLGA', buttons[0]);
  await click('U0OLGA', buttons[1]);
  expect(stack.effects(key)).toHaveLength(1);
  expect((await stack.store.intents.load(intentId))?.state).toBe('committed');
});

test('what an operator refuses in Slack never happens', async () => {
  const { intentId, buttons } = await asked('refused');
  expect(await click('U0OLGA', buttons[1])).toContain('You have refused effects.asked');
  expect(await stack.settled(intentId)).toBe('denied');
  expect(await click('U0OLGA', buttons[0])).toContain('so nobody is asked about it');
  expect(stack.requests(await stack.keyOf(intentId))).toEqual([]);
});
