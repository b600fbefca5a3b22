import { isDetailedTaskV2 } from '@modelcontextprotocol/ext-tasks/core/v2';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { People } from './approvals-people.js';
import type { Agent } from './clients.js';
import { McpAgent } from './mcp-agent.js';
import { Stack } from './stack.js';
import { answerOf, envelope, post, TaskAgent } from './task-agent.js';

const extension = 'io.modelcontextprotocol/tasks';
const declared = { ...envelope, 'io.modelcontextprotocol/clientCapabilities': { extensions: { [extension]: {} } } };

let stack: Stack;
const open: TaskAgent[] = [];
beforeAll(async () => {
  stack = await Stack.start();
});
afterAll(async () => {
  await Promise.all(open.map((each) => each.close()));
  expect(await stack.store.verify()).toEqual([]);
  await stack.stop();
});

/** `at once`: no call is waited for. */
async function connect(agent: Agent, patience?: 'at once'): Promise<TaskAgent> {
  const tasks = await TaskAgent.connect(stack.url, agent.token, patience && { prefer: 'wait=0' });
  open.push(tasks);
  return tasks;
}

async function ask(agent: Agent, method: string, params: { taskId: string }, _meta: object = declared) {
  const response = await post(stack.url, agent.token, { method, params: { ...params, _meta } as typeof params });
  return { status: response.status, body: JSON.parse(await response.text()) };
}

test('a call that is over by the notice limit of its tool is answered; a longer one is a task that ends with its answer', async () => {
  const agent = await stack.agent();
  const tasks = await connect(agent);
  const short = await tasks.session.callTool('orders.get', { order_id: 'ord_1' });
  expect(short.kind).toBe('immediate');
  expect(answerOf(await short.result())).toMatchObject({ isError: false, result: { status: 'committed' } });
  stack.upstream.behave({ match: { bodyContains: agent.runId }, behaviour: { delayMs: 1_500 } });
  const { taskId, answer, said } = await tasks.follow('effects.noticed', { ref: agent.runId });
  expect(answer).toMatchObject({
    isError: false,
    result: { intentId: taskId, status: 'committed', outcome: 'executed' },
  });
  expect(said[0]).toContain('working: effects.noticed is still being worked on: it is at its upstream, which has not');
  const again = await tasks.session.callTool('effects.noticed', { ref: agent.runId });
  expect(answerOf(await again.result())).toMatchObject({ result: { intentId: taskId, replayed: true } });
  expect(stack.effects(await stack.keyOf(taskId ?? ''))).toHaveLength(1);
});

test('what waits for a person is a task at once, and ends as the person says', async () => {
  const agent = await stack.agent();
  const people = new People(stack);
  const tasks = await connect(agent);
  const following = tasks.follow('effects.approved', { ref: agent.runId, amount: 1 });
  const refused = await tasks.session.callTool('effects.approved', { ref: `not ${agent.runId}`, amount: 2 });
  const id = refused.handle?.taskId ?? '';
  const { body } = await ask(agent, 'tasks/get', { taskId: id });
  expect(body.result).toMatchObject({
    ...{ taskId: id, status: 'working', ttlMs: null, pollIntervalMs: 5_000 },
    statusMessage: expect.stringMatching(/waits for the approval of a person/),
  });
  await people.refuse(id);
  expect(answerOf(await refused.result())).toMatchObject({
    ...{ isError: true, result: { status: 'denied', error: { code: 'approval_refused' } } },
  });
  const [waiting] = await stack.store.intents.list({ runId: agent.runId, state: 'awaiting_approval', limit: 2 });
  await people.approve(waiting?.intentId ?? '');
  expect((await following).answer).toMatchObject({ isError: false, result: { status: 'committed' } });
});

test('what is not known is never a failed task', async () => {
  const agent = await stack.agent();
  const tasks = await connect(agent, 'at once');
  stack.upstream.behave({ match: { bodyContains: agent.runId }, behaviour: { commit: false, then: 'reset' } });
  const looked = await tasks.follow('effects.confirmed', { ref: agent.runId });
  expect(looked.said.some((each) => each.startsWith('working: The outcome of effects.confirmed is not known'))).toBe(
    true,
  );
  expect(looked.said.filter((each) => each.startsWith('failed'))).toEqual([]);
  stack.upstream.behave({ match: { bodyContains: agent.runId }, behaviour: { then: 'reset' } });
  const blind = await tasks.follow('effects.blind', { ref: agent.runId });
  expect(blind.answer).toMatchObject({
    isError: false,
    result: {
      ...{ status: 'dead_lettered', outcome: 'unknown' },
      error: { code: 'dead_lettered', retryable: false, message: expect.stringMatching(/Do not call it again/) },
    },
  });
});

test('what certainly failed is a completed task whose answer is an error', async () => {
  const agent = await stack.agent();
  const tasks = await connect(agent, 'at once');
  stack.upstream.behave({ match: { bodyContains: agent.runId }, behaviour: { commit: false, then: 'status:400' } });
  expect((await tasks.follow('effects.keyed', { ref: agent.runId })).answer).toMatchObject({
    isError: true,
    result: { status: 'failed', outcome: 'not_executed', error: { code: 'upstream_rejected' } },
  });
});

test('a task that was not sent is cancelled; one that was sent ends in what happened', async () => {
  const agent = await stack.agent();
  const tasks = await connect(agent, 'at once');
  const waiting = await tasks.session.callTool('effects.approved', { ref: agent.runId, amount: 1 });
  await waiting.cancel();
  const { body } = await ask(agent, 'tasks/get', { taskId: waiting.handle?.taskId ?? '' });
  expect(body.result).toMatchObject({
    status: 'cancelled',
    statusMessage: expect.stringContaining('Nothing happened'),
  });
  stack.upstream.behave({ match: { bodyContains: agent.runId }, behaviour: { delayMs: 1_000 } });
  const sent = await tasks.session.callTool('effects.noticed', { ref: agent.runId });
  const taskId = sent.handle?.taskId ?? '';
  await stack.upstream.waitForRequest({ key: await stack.keyOf(taskId) }, 10_000);
  expect(await ask(agent, 'tasks/cancel', { taskId })).toMatchObject({
    status: 200,
    body: { result: expect.anything() },
  });
  const outcome = await tasks.end(taskId);
  expect(answerOf(outcome)).toMatchObject({ isError: false, result: { status: 'committed', outcome: 'executed' } });
  // Over and done with: the wish is noted, and changes nothing.
  expect((await ask(agent, 'tasks/cancel', { taskId })).body.result).toMatchObject({ resultType: 'complete' });
});

test('a task of another run does not exist, and without the extension there are none', async () => {
  const [agent, other] = [await stack.agent(), await stack.agent()];
  const { intentId } = await other.submit('effects.approved', { ref: other.runId });
  const { body } = await ask(other, 'tasks/get', { taskId: intentId });
  expect(isDetailedTaskV2(body.result), JSON.stringify(body)).toBe(true);
  for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
    for (const taskId of [intentId, 'no-such-task']) {
      expect((await ask(agent, method, { taskId })).body.error).toMatchObject({
        ...{ code: -32_602, data: { error: { code: 'not_found' } } },
      });
    }
    expect(await ask(agent, method, { taskId: intentId }, envelope)).toMatchObject({
      status: 400,
      body: { error: { code: -32_021, data: { requiredCapabilities: { extensions: { [extension]: {} } } } } },
    });
  }
  expect((await stack.store.intents.load(intentId))?.state).toBe('awaiting_approval');
  const legacy = await McpAgent.connect(stack.url, agent.token, '2025-11-25');
  expect(legacy.client.getServerCapabilities()).toEqual({ tools: {} });
  const asked = legacy.client.request({ method: 'tasks/get', params: { taskId: intentId } }, anything);
  await expect(asked).rejects.toMatchObject({ code: -32_601 });
  await legacy.close();
});

const anything = { '~standard': { version: 1 as const, vendor: 'test', validate: (value: unknown) => ({ value }) } };
