import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Agent } from './clients.js';
import { type Lane, lanes, McpAgent, type Progress } from './mcp-agent.js';
import { Stack } from './stack.js';
import { UpstreamCalls } from './upstream-calls.js';

let stack: Stack;
let calls: UpstreamCalls;
const open: McpAgent[] = [];
beforeAll(async () => {
  stack = await Stack.start();
  calls = new UpstreamCalls(stack);
});
afterAll(async () => {
  await Promise.all(open.map((each) => each.close()));
  expect(await stack.store.verify()).toEqual([]);
  await stack.stop();
});

async function connect(agent: Agent, lane: Lane, options: { query?: string; headers?: Record<string, string> } = {}) {
  const mcp = await McpAgent.connect(stack.url, agent.token, lane, options);
  open.push(mcp);
  return mcp;
}

describe.each(lanes)('over revision %s', (lane) => {
  test('the official client negotiates the revision and finds the tools of its run, the same for the same credential (T15)', async () => {
    const agent = await stack.agent();
    const [one, other] = [await connect(agent, lane), await connect(agent, lane)];
    expect(one.client.getNegotiatedProtocolVersion()).toBe(lane);
    expect(one.client.getServerCapabilities()).toMatchObject({ tools: {} });
    expect(one.client.getInstructions()).toContain('at most once');
    const { tools } = await one.client.listTools();
    expect(JSON.stringify((await other.client.listTools()).tools)).toBe(JSON.stringify(tools));
    const names = tools.map(({ name }) => name);
    expect(names).toEqual([...names].sort());
    expect(names).toEqual(expect.arrayContaining(['effects.keyed', 'intendant.intent.get', 'orders.get']));
    const of = (name: string) => tools.find((tool) => tool.name === name);
    expect(of('orders.get')?.annotations).toMatchObject({ readOnlyHint: true, destructiveHint: false });
    expect(of('effects.keyed')?.annotations).toMatchObject({ readOnlyHint: false, destructiveHint: true });
    expect(of('effects.approved')?.annotations).toMatchObject({ readOnlyHint: false, destructiveHint: false });
    expect(of('effects.keyed')).toMatchObject({
      inputSchema: { required: ['ref'] },
      outputSchema: { properties: { data: { anyOf: [{ required: ['effect_id'] }, { type: 'null' }] } } },
    });
    // Nothing of the runtime layer.
    expect(JSON.stringify(tools)).not.toMatch(/baseUrl|tenant_id|test:use/);
  });

  test('a call takes effect once, and answers with data a client checks against the output schema', async () => {
    const agent = await stack.agent();
    const mcp = await connect(agent, lane);
    await mcp.client.listTools();
    const { isError, result, texts } = await mcp.call('effects.keyed', { ref: agent.runId }, { stepId: 's1' });
    expect({ isError, result }).toMatchObject({
      isError: false,
      result: { status: 'committed', outcome: 'executed', replayed: false, stepId: 's1', error: null },
    });
    expect(result.data).toMatchObject({ effect_id: expect.any(String) });
    expect(JSON.parse(texts.at(-1) ?? '')).toEqual(result);
    const again = await mcp.call('effects.keyed', { ref: agent.runId }, { stepId: 's1' });
    expect(again.result).toMatchObject({ intentId: result.intentId, replayed: true, data: result.data });
    expect(stack.effects(await stack.keyOf(result.intentId))).toHaveLength(1);
  });

  test('a call without a step is found again by its arguments', async () => {
    const agent = await stack.agent();
    const mcp = await connect(agent, lane);
    const first = await mcp.call('effects.keyed', { ref: agent.runId, amount: 1 });
    const second = await mcp.call('effects.keyed', { amount: 1, ref: agent.runId });
    expect(second.result).toMatchObject({ intentId: first.result.intentId, replayed: true });
    expect(stack.effects(await stack.keyOf(first.result.intentId))).toHaveLength(1);
  });

  test('what was refused is an error with the object of every other surface, not checked against the output schema', async () => {
    const agent = await stack.agent();
    const mcp = await connect(agent, lane);
    await mcp.client.listTools();
    const wrong = await mcp.call('effects.keyed', { amount: 'many' });
    expect(wrong).toMatchObject({
      isError: true,
      error: { code: 'invalid_arguments', nextAction: 'fix_arguments', details: { problems: expect.any(Array) } },
    });
    expect(JSON.parse(wrong.texts[1] ?? '')).toEqual({ error: wrong.error });
    stack.upstream.behave({ match: { bodyContains: agent.runId }, behaviour: { commit: false, then: 'status:400' } });
    const rejected = await mcp.call('effects.keyed', { ref: agent.runId });
    expect(rejected).toMatchObject({
      isError: true,
      result: { status: 'failed', outcome: 'not_executed', error: { code: 'upstream_rejected' } },
    });
    expect(rejected.texts[0]).toBe(rejected.error.message);
  });

  test('a tool that does not exist, and a step id that is none, are protocol errors', async () => {
    const mcp = await connect(await stack.agent(), lane);
    await expect(mcp.call('effects.kyed', { ref: 'a' })).rejects.toMatchObject({
      code: -32_602,
      data: { error: { code: 'unknown_tool', details: { suggestion: 'effects.keyed' } } },
    });
    await expect(mcp.call('effects.keyed', { ref: 'a' }, { stepId: 'not a step' })).rejects.toMatchObject({
      code: -32_602,
      data: { error: { code: 'invalid_message' } },
    });
  });

  test('what waits for a person is said as that, can be asked for, and can be cancelled', async () => {
    const agent = await stack.agent();
    const mcp = await connect(agent, lane, { headers: { prefer: 'wait=0' } });
    const asked = await mcp.call('effects.approved', { ref: agent.runId, amount: 3 });
    expect(asked).toMatchObject({ isError: false, result: { status: 'awaiting_approval', error: null } });
    expect(asked.texts[0]).toMatch(/waits for the approval of a person/);
    const { intentId } = asked.result;
    const later = await mcp.call('intendant.intent.get', { intentId });
    expect(later).toMatchObject({ isError: false, result: { intentId, status: 'awaiting_approval' } });
    const cancelled = await mcp.call('intendant.intent.cancel', { intentId });
    expect(cancelled).toMatchObject({ isError: false, result: { status: 'cancelled', outcome: 'not_executed' } });
    expect((await mcp.call('intendant.intent.get', { intentId })).result.status).toBe('cancelled');
  });

  test('an outcome that nobody can know is not an error, and says not to call again', async () => {
    const agent = await stack.agent();
    const mcp = await connect(agent, lane);
    stack.upstream.behave({ match: { bodyContains: agent.runId }, behaviour: { then: 'reset' } });
    const { isError, result, texts } = await mcp.call('effects.blind', { ref: agent.runId });
    expect({ isError, result }).toMatchObject({
      isError: false,
      result: { status: 'dead_lettered', outcome: 'unknown', error: { code: 'dead_lettered', retryable: false } },
    });
    expect(texts[0]).toMatch(/not known whether effects.blind happened.*Do not call it again/s);
  });

  test('a long call tells its progress, and one that outlives the patience of its caller is answered as still open', async () => {
    const agent = await stack.agent();
    const mcp = await connect(agent, lane, { headers: { prefer: 'wait=3' } });
    stack.upstream.behave({ match: { bodyContains: agent.runId }, behaviour: { delayMs: 3_600 } });
    const told: Progress[] = [];
    const answer = await mcp.call('effects.noticed', { ref: agent.runId }, { onprogress: (each) => told.push(each) });
    // Its notice limit is 300 ms; without one it would be two seconds.
    expect(told[0]?.progress).toBeGreaterThanOrEqual(0.3);
    expect(told[0]?.progress).toBeLessThan(2);
    expect(told.length).toBeGreaterThanOrEqual(2);
    expect(told.map(({ progress }) => progress)).toEqual(told.map(({ progress }) => progress).sort((a, b) => a - b));
    expect(told.at(-1)?.message).toContain('it is at its upstream, which has not answered yet.');
    expect(answer).toMatchObject({ isError: false, result: { outcome: 'undecided', data: null } });
    expect(answer.texts[0]).toMatch(/still being worked on.*Do not call it again.*intendant\.intent\.get/s);
    const { intentId } = answer.result;
    const later = await mcp.call('intendant.intent.get', { intentId, wait: 20 });
    expect(later.result).toMatchObject({ intentId, status: 'committed', outcome: 'executed' });
    expect(stack.effects(await stack.keyOf(intentId))).toHaveLength(1);
  });

  test.each([
    ['waits for a person', 'effects.approved', /waits for the approval of a person/],
    ['has an unknown outcome', 'effects.confirmed', /outcome of effects.confirmed is not known.*being checked/],
  ])('of a call that %s, progress says so before any limit', async (_, tool, says) => {
    const agent = await stack.agent();
    const mcp = await connect(agent, lane, { headers: { prefer: 'wait=3' } });
    stack.upstream.behave({ match: { bodyContains: agent.runId }, behaviour: { commit: false, then: 'reset' } });
    const told: Progress[] = [];
    const args = { ref: agent.runId, amount: 1 };
    const answer = await mcp.call(tool, args, { onprogress: (each) => told.push(each) });
    const [first] = told.filter(({ message }) => says.test(message ?? ''));
    expect(first?.progress, JSON.stringify(told)).toBeLessThan(2);
    expect(answer.isError).toBe(false);
  });

  test('a client that gives up ends its waiting and nothing else; the call sent again gets the result', async () => {
    const agent = await stack.agent();
    const mcp = await connect(agent, lane);
    stack.upstream.behave({ match: { bodyContains: agent.runId }, behaviour: { delayMs: 400 } });
    const gone = new AbortController();
    const call = mcp.call('effects.noticed', { ref: agent.runId }, { stepId: 's1', signal: gone.signal });
    const key = calls.keyOfStep(agent, 'effects.noticed', 's1');
    await stack.upstream.waitForRequest({ key }, 10_000);
    gone.abort();
    await expect(call).rejects.toThrow();
    const again = await mcp.call('effects.noticed', { ref: agent.runId }, { stepId: 's1' });
    expect(again.result).toMatchObject({ status: 'committed', replayed: true });
    expect([stack.effects(key).length, stack.requests(key).length]).toEqual([1, 1]);
    expect((await calls.eventsOf(again.result.intentId)).filter((type) => type.startsWith('cancel'))).toEqual([]);
  });

  test('a caller can start from namespaces, and load and call what it needs', async () => {
    const agent = await stack.agent();
    const mcp = await connect(agent, lane, { query: '?tools=search' });
    expect((await mcp.client.listTools()).tools.map(({ name }) => name)).toEqual([
      'intendant.intent.cancel',
      'intendant.intent.get',
      'intendant.result.get',
      'intendant.tools.call',
      'intendant.tools.search',
    ]);
    const all = (await mcp.call('intendant.tools.search', {})).result as unknown as Found;
    expect(all.namespaces).toContainEqual({ namespace: 'orders', tools: 2 });
    expect(all.tools).toEqual([]);
    const found = (await mcp.call('intendant.tools.search', { namespace: 'orders' })).result as unknown as Found;
    expect(found.tools.map(({ name }) => name)).toEqual(['orders.get', 'orders.persistent']);
    expect(found.tools[0]?.inputSchema).toMatchObject({ required: ['order_id'] });
    const call = { tool: 'effects.keyed', arguments: { ref: agent.runId } };
    const first = await mcp.call('intendant.tools.call', call);
    expect(first.result).toMatchObject({ status: 'committed', tool: 'effects.keyed' });
    const direct = await mcp.call('effects.keyed', { ref: agent.runId });
    expect(direct.result).toMatchObject({ intentId: first.result.intentId, replayed: true });
    const some = await connect(agent, lane, { query: '?namespace=orders' });
    expect((await some.client.listTools()).tools.map(({ name }) => name)).toEqual([
      'intendant.intent.cancel',
      'intendant.intent.get',
      'intendant.result.get',
      'intendant.tools.search',
      'orders.get',
      'orders.persistent',
    ]);
  });
});

interface Found {
  readonly namespaces: object[];
  readonly tools: { name: string; inputSchema: object }[];
}

test('an intent of another run does not exist, whatever is asked about it', async () => {
  const mcp = await connect(await stack.agent(), '2026-07-28');
  const other = await stack.agent();
  const { intentId } = await other.submit('effects.approved', { ref: other.runId });
  for (const tool of ['intendant.intent.get', 'intendant.intent.cancel']) {
    expect(await mcp.call(tool, { intentId })).toMatchObject({
      isError: true,
      error: { code: 'not_found', nextAction: 'stop', message: 'There is no such intent.' },
    });
  }
  expect(await mcp.call('intendant.intent.get', {})).toMatchObject({
    isError: true,
    error: { code: 'invalid_arguments', details: { problems: [{ pointer: '/intentId' }] } },
  });
  expect((await stack.store.intents.load(intentId))?.state).toBe('awaiting_approval');
});

test('a message that cancels a request ends its waiting, for its own run only, and not the call', async () => {
  const [agent, other] = [await stack.agent(), await stack.agent()];
  const tool = 'effects.noticed';
  const key = calls.keyOfStep(agent, tool, 's1');
  stack.upstream.behave({ match: { key }, behaviour: { delayMs: 3_000 } });
  const post = (token: string, message: object) =>
    fetch(`${stack.url}/mcp`, {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${token}`, 'mcp-protocol-version': '2025-11-25' },
        ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    });
  const params = { name: tool, arguments: { ref: agent.runId }, _meta: { 'intendant/stepId': 's1' } };
  let answer: string | null = null;
  const call = post(agent.token, { id: 7, method: 'tools/call', params }).then(async (response) => {
    answer = await response.text();
  });
  await stack.upstream.waitForRequest({ key }, 10_000);
  const cancel = { method: 'notifications/cancelled', params: { requestId: 7 } };
  expect((await post(other.token, cancel)).status).toBe(202);
  for (const requestId of ['7', 8, undefined]) {
    expect((await post(agent.token, { ...cancel, params: { requestId } })).status).toBe(202);
  }
  expect(answer).toBeNull();
  expect((await post(agent.token, cancel)).status).toBe(202);
  await call;
  expect(answer).toContain('"status":"dispatching"');
  const mcp = await connect(agent, '2025-11-25');
  const again = await mcp.call(tool, { ref: agent.runId }, { stepId: 's1' });
  expect(again.result).toMatchObject({ status: 'committed', replayed: true });
  expect([stack.effects(key).length, stack.requests(key).length]).toEqual([1, 1]);
});

test('a call begun at one gateway is found again at another', async () => {
  const agent = await stack.agent();
  const first = await connect(agent, '2025-11-25');
  const { result } = await first.call('effects.keyed', { ref: agent.runId });
  const second = await stack.launch('gateway');
  const mcp = await McpAgent.connect(second.url, agent.token, '2025-11-25');
  open.push(mcp);
  expect(JSON.stringify(await mcp.client.listTools())).toBe(JSON.stringify(await first.client.listTools()));
  const again = await mcp.call('effects.keyed', { ref: agent.runId });
  expect(again.result).toMatchObject({ intentId: result.intentId, replayed: true });
  expect((await mcp.call('intendant.intent.get', { intentId: result.intentId })).result.status).toBe('committed');
});
