import type { IntentResult } from '@intendant/contracts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Agent } from './clients.js';
import { eventually } from './eventually.js';
import { McpAgent } from './mcp-agent.js';
import { Stack } from './stack.js';

let stack: Stack;
const open: McpAgent[] = [];
beforeAll(async () => {
  // Nobody listens on the port named discard.
  stack = await Stack.start({ env: { SECOND_UPSTREAM_URL: 'http://127.0.0.1:9' } });
});
afterAll(async () => {
  await Promise.all(open.map((each) => each.close()));
  expect(await stack.store.verify()).toEqual([]);
  await stack.stop();
});

type Call = (tool: string, args: object) => Promise<IntentResult>;
/** The ways to call a tool and hear what became of it. */
const surfaces: [string, (agent: Agent) => Promise<Call>][] = [
  [
    'over MCP',
    async (agent) => {
      const mcp = await McpAgent.connect(stack.url, agent.token, '2026-07-28');
      open.push(mcp);
      return async (tool, args) => (await mcp.call(tool, { ...args })).result;
    },
  ],
  [
    'over HTTP',
    async (agent) => async (tool, args) =>
      (await agent.postHttp(JSON.stringify({ tool, args }), { prefer: 'wait=10' })).body,
  ],
  ['by request over NATS', async (agent) => (tool, args) => agent.submit(tool, args, { wait: '10s' })],
];

function refuse(agent: Agent, times: number): void {
  const behaviour = { commit: false, then: 'status:400' } as const;
  stack.upstream.behave({ match: { bodyContains: agent.runId }, times, behaviour });
}

describe.each(surfaces)('a call without a step %s', (_, connect) => {
  test('that reads is asked again each time it is made', async () => {
    const agent = await stack.agent();
    const call = await connect(agent);
    const seen = new Set<string>();
    for (let turn = 0; turn < 3; turn += 1) {
      const read = await call('orders.get', { order_id: 'ord_1' });
      expect(read).toMatchObject({ status: 'committed', replayed: false });
      seen.add(read.intentId);
    }
    expect(seen.size).toBe(3);
  });

  test('that failed and did nothing is made again, and takes effect once', async () => {
    const agent = await stack.agent();
    const call = await connect(agent);
    const args = { ref: agent.runId };
    refuse(agent, 2);
    const first = await call('effects.keyed', args);
    const second = await call('effects.keyed', args);
    expect([first, second]).toMatchObject([
      { status: 'failed', replayed: false },
      { status: 'failed', replayed: false },
    ]);
    const third = await call('effects.keyed', args);
    expect(third).toMatchObject({ status: 'committed', replayed: false });
    const fourth = await call('effects.keyed', args);
    expect(fourth).toMatchObject({ status: 'committed', replayed: true, intentId: third.intentId });
    const keys = await Promise.all([first, second, third].map(({ intentId }) => stack.keyOf(intentId)));
    expect(new Set(keys).size).toBe(3);
    expect(keys.flatMap((key) => stack.effects(key))).toHaveLength(1);
  });

  test('that is told to be retryable can be retried', async () => {
    const call = await connect(await stack.agent());
    const first = await call('effects.away', { ref: 'a' });
    expect(first.error).toMatchObject({ code: 'upstream_unavailable', retryable: true, nextAction: 'wait' });
    expect(first.error?.message).not.toContain('step');
    expect(await call('effects.away', { ref: 'a' })).toMatchObject({ status: 'failed', replayed: false });
  });

  test('made many times at once is one', async () => {
    const agent = await stack.agent();
    const call = await connect(agent);
    const args = { ref: agent.runId };
    refuse(agent, 1);
    const failed = await call('effects.keyed', args);
    const all = await Promise.all(Array.from({ length: 8 }, () => call('effects.keyed', args)));
    const [one] = new Set(all.map(({ intentId }) => intentId));
    expect(all.map(({ intentId, status }) => [intentId, status])).toEqual(all.map(() => [one, 'committed']));
    expect(one).not.toBe(failed.intentId);
    expect(stack.effects(await stack.keyOf(one ?? ''))).toHaveLength(1);
  });
});

test('over MCP a cancelled call can be made after all, and a repeated answer says in words that it is one', async () => {
  const agent = await stack.agent();
  const mcp = await McpAgent.connect(stack.url, agent.token, '2026-07-28', { headers: { prefer: 'wait=0' } });
  open.push(mcp);
  const args = { ref: agent.runId, amount: 3 };
  const asked = await mcp.call('effects.approved', args);
  const again = await mcp.call('effects.approved', args);
  expect(again.result).toMatchObject({ intentId: asked.result.intentId, replayed: true });
  expect(again.texts[0]).toBe('This is the answer of the same call made earlier; it was not made again.');
  await mcp.call('intendant.intent.cancel', { intentId: asked.result.intentId });
  const wanted = await mcp.call('effects.approved', args);
  expect(wanted.result).toMatchObject({ status: 'awaiting_approval', replayed: false });
  expect(wanted.texts[0]).toMatch(/waits for the approval of a person/);
});

test('published, it is one call for its run, however often it is delivered and whatever became of it', async () => {
  const agent = await stack.agent();
  const message = JSON.stringify({ tool: 'effects.away', args: { ref: agent.runId } });
  await agent.publish(message);
  const intents = () => stack.store.intents.list({ runId: agent.runId, limit: 10 });
  const [first] = await eventually('it is recorded', async () => {
    const listed = await intents();
    return listed.length > 0 ? listed : null;
  });
  expect(await stack.settled(first?.intentId ?? '')).toBe('failed');
  await agent.publish(message);
  // What is published after it is admitted after it.
  const other = JSON.stringify({ tool: 'orders.get', args: { order_id: agent.runId } });
  await agent.publish(other);
  await eventually('the next one is recorded', async () => (await intents()).some(({ tool }) => tool === 'orders.get'));
  expect((await intents()).filter(({ tool }) => tool === 'effects.away')).toHaveLength(1);
});
