import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { IntentCloudEvent } from '@intendant/contracts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { select } from '../../examples/upstream/ledger-entry.js';
import { startUpstream, type Upstream } from '../../examples/upstream/server.js';
import { audit } from './audit.js';
import { Agent } from './clients.js';
import { eventually } from './eventually.js';
import { HttpClient } from './http-client.js';
import { operatorKey, Stack } from './stack.js';

const toolsDir = path.join(path.dirname(fileURLToPath(import.meta.url)), 'tools-sandbox');
let stack: Stack;
let sandbox: Upstream;
let http: HttpClient;

/** Both upstreams run in this process, so what reaches either of them can be seen. */
const stages = new Map<string, string[]>();
const onRequest = (message: unknown) => {
  const { headers } = (message as { request: IncomingMessage }).request;
  const stage = String(headers['x-stage']);
  if (headers['x-stage'] !== undefined) stages.set(stage, [...(stages.get(stage) ?? []), String(headers['host'])]);
};

beforeAll(async () => {
  sandbox = await startUpstream();
  stack = await Stack.start({
    services: ['policy', 'outbox-relay', 'dispatcher', 'reconciler', 'gateway'],
    toolsDir,
    env: { SECOND_UPSTREAM_URL: sandbox.url },
  });
  http = new HttpClient(() => stack.url);
  subscribe('http.server.request.start', onRequest);
});
afterAll(async () => {
  unsubscribe('http.server.request.start', onRequest);
  await stack.stop();
  await sandbox.close();
});

const hostOf = (url: string) => new URL(url).host;
const inSandbox = (key: string) => select(sandbox.ledger(), 'effect', { key });
const submit = (agent: Agent, message: object) =>
  agent.request(JSON.stringify({ tool: 'effects.staged', stepId: 's1', ...message }), '20s');

test('a sandbox call reaches the sandbox alone, with its headers, also when its answer is lost and looked for', async () => {
  const agent = await stack.agent();
  const args = { ref: agent.runId };
  sandbox.behave({ match: { bodyContains: agent.runId }, behaviour: { then: 'reset' } });
  const result = await submit(agent, { args, sandbox: true });
  expect(result).toMatchObject({ status: 'committed', outcome: 'executed', sandbox: true, replayed: false });

  const key = await stack.keyOf(result.intentId);
  expect(await stack.store.intents.load(result.intentId)).toMatchObject({ proof: 'lookup' });
  expect({ sandbox: inSandbox(key).length, real: stack.requests().length }).toEqual({ sandbox: 1, real: 0 });
  expect(select(stack.upstream.ledger(), 'lookup', {})).toEqual([]);
  const seen = stages.get(`sandbox of ${agent.runId}`) ?? [];
  expect(seen.length, 'the call and its lookup').toBeGreaterThan(1);
  expect(new Set(seen)).toEqual(new Set([hostOf(sandbox.url)]));
  expect(stages.has('real')).toBe(false);

  // The real call of the same step is not answered from the rehearsal.
  const real = await submit(agent, { args });
  expect(real).toMatchObject({ status: 'committed', outcome: 'executed', replayed: false });
  expect(real).not.toHaveProperty('sandbox');
  const realKey = await stack.keyOf(real.intentId);
  expect(realKey).not.toBe(key);
  expect({ sandbox: inSandbox(realKey).length, real: stack.effects(realKey).length }).toEqual({ sandbox: 0, real: 1 });
  expect(stages.get('real')).toEqual([hostOf(stack.upstream.url)]);

  const listed = async (which: string) => {
    const path = `/v1/intents?runId=${agent.runId}&sandbox=${which}`;
    const { body } = await stack.operator().get<{ items: { intentId: string; sandbox: boolean }[] }>(path);
    return body.items.map((item) => [item.intentId, item.sandbox]);
  };
  expect(await listed('true')).toEqual([[result.intentId, true]]);
  expect(await listed('false')).toEqual([[real.intentId, false]]);

  const again = await submit(agent, { args, sandbox: true });
  expect(again).toMatchObject({ intentId: result.intentId, sandbox: true, replayed: true });
  expect(inSandbox(key)).toHaveLength(1);
});

test('a tool without a sandbox is refused by name, and nothing is recorded', async () => {
  const agent = await stack.agent();
  const message = { tool: 'effects.unstaged', args: { ref: agent.runId }, sandbox: true };
  expect(await submit(agent, message)).toMatchObject({
    error: {
      code: 'invalid_message',
      message: 'effects.unstaged has no sandbox. Nothing was recorded.',
      details: { problems: [{ pointer: '/sandbox', expected: 'false', got: 'true' }] },
    },
  });
  expect(await stack.store.intents.list({ runId: agent.runId, limit: 10 })).toEqual([]);
});

test('in a sandbox run every call is one, and only tools with a sandbox are there', async () => {
  const { runId, token } = await http.openRun({ sandbox: true });
  const agent = new Agent(stack.bus, () => stack.url, runId, token);
  const { body: listed } = await agent.getHttp<{ tools: { name: string }[] }>('/v1/tools');
  expect(listed.tools.map(({ name }) => name)).toEqual(['effects.staged']);

  const before = stack.requests().length;
  const body = JSON.stringify({ tool: 'effects.staged', args: { ref: runId }, stepId: 's1', sandbox: false });
  const { body: result } = await agent.postHttp(body, { prefer: 'wait=20' });
  expect(result).toMatchObject({ status: 'committed', sandbox: true });
  expect(inSandbox(await stack.keyOf(result.intentId))).toHaveLength(1);
  const refused = await agent.postHttp(JSON.stringify({ tool: 'effects.unstaged', args: { ref: runId } }));
  expect(refused).toMatchObject({ status: 400, body: { error: { code: 'invalid_message' } } });
  expect(stack.requests()).toHaveLength(before);
});

test('events of sandbox calls are marked, and those of real ones are not', async () => {
  const heard = new Map<string, IntentCloudEvent>();
  const subscription = stack.bus.subscribe('intendant.events.acme.>', {
    callback: (_, message) => {
      const event = message.json<IntentCloudEvent>();
      heard.set(event.subject, event);
    },
  });
  const agent = await stack.agent();
  const args = { ref: agent.runId };
  const mock = await submit(agent, { args, sandbox: true });
  const real = await submit(agent, { args });
  await eventually('both events', () => heard.has(mock.intentId) && heard.has(real.intentId));
  subscription.unsubscribe();
  expect(heard.get(mock.intentId)).toMatchObject({ sandbox: true, data: { status: 'committed', sandbox: true } });
  expect(heard.get(real.intentId)).not.toHaveProperty('sandbox');
  expect(heard.get(real.intentId)?.data).not.toHaveProperty('sandbox');

  const timeline = async (intentId: string) =>
    (await http.http('GET', `/v1/intents/${intentId}/events`, operatorKey)).body.events[0];
  expect(await timeline(mock.intentId)).toMatchObject({ type: 'recorded', proposal: { sandbox: true } });
  expect(await timeline(real.intentId)).toMatchObject({ type: 'recorded', proposal: { sandbox: false } });
});

test('in the end log, read model and both ledgers agree', async () => {
  expect(await audit(stack, [...stack.upstream.ledger(), ...sandbox.ledger()])).toEqual([]);
});
