import { connect as connectSocket, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Agent } from './clients.js';
import { McpAgent } from './mcp-agent.js';
import { Stack } from './stack.js';
import { UpstreamCalls } from './upstream-calls.js';

let stack: Stack;
let calls: UpstreamCalls;
beforeAll(async () => {
  stack = await Stack.start();
  calls = new UpstreamCalls(stack);
});
afterAll(async () => {
  expect(await stack.store.verify()).toEqual([]);
  await stack.stop();
});

const tool = 'effects.keyed';
const argsOf = (stepId: string) => ({ ref: stepId });

/** A whole `tools/call` as it goes over the wire. */
function wire(agent: Agent, stepId: string): string {
  const params = { name: tool, arguments: argsOf(stepId), _meta: { 'intendant/stepId': stepId } };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  return [
    'POST /mcp HTTP/1.1',
    `Host: ${new URL(stack.url).host}`,
    `Authorization: Bearer ${agent.token}`,
    'Accept: application/json, text/event-stream',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n');
}

/** Sends the first bytes of a call and hangs up, at once or after so many bytes of the answer. */
async function hangUp(bytes: string, ofAnswer: number): Promise<void> {
  const socket: Socket = connectSocket(Number(new URL(stack.url).port), '127.0.0.1');
  await new Promise<void>((resolve, reject) => {
    let seen = 0;
    socket.once('error', reject);
    socket.once('close', () => resolve());
    socket.on('data', (chunk) => {
      seen += chunk.length;
      if (seen >= ofAnswer) socket.destroy();
    });
    socket.write(bytes, () => ofAnswer === 0 && socket.destroy());
  });
}

async function each<T>(items: readonly T[], atOnce: number, run: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  const work = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await run(item);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}

test('a client that disconnects at any byte of a call has at most one effect, and the same call gets the result', async () => {
  const agent = await stack.agent();
  const whole = wire(agent, 'cut-0000').length;
  // Around the ends of head and body byte by byte, elsewhere every seventh.
  const head = wire(agent, 'cut-0000').indexOf('\r\n\r\n') + 4;
  const near = (at: number) => (n: number) => Math.abs(n - at) <= 8;
  const positions = Array.from({ length: whole + 1 }, (_, n) => n).filter(
    (n) => n % 7 === 0 || near(head)(n) || near(whole)(n),
  );
  const stepOf = (n: number) => `cut-${String(n).padStart(4, '0')}`;
  await each(positions, 8, (n) => hangUp(wire(agent, stepOf(n)).slice(0, n), 0));
  for (const n of positions)
    expect(stack.effects(calls.keyOfStep(agent, tool, stepOf(n))).length).toBeLessThanOrEqual(1);
  const answers = [1, 100, 200, 400];
  await each(answers, 4, (n) => hangUp(wire(agent, `answer-${n}`), n));
  const mcp = await McpAgent.connect(stack.url, agent.token, '2026-07-28');
  await each([...positions.map(stepOf), ...answers.map((n) => `answer-${n}`)], 8, async (stepId) => {
    const { result } = await mcp.call(tool, argsOf(stepId), { stepId });
    expect(result).toMatchObject({ status: 'committed', outcome: 'executed' });
    const key = calls.keyOfStep(agent, tool, stepId);
    expect([stack.effects(key).length, stack.requests(key).length], stepId).toEqual([1, 1]);
    expect((await calls.eventsOf(result.intentId)).filter((type) => type.startsWith('cancel'))).toEqual([]);
  });
  await mcp.close();
  expect(positions.length).toBeGreaterThan(100);
  expect(await stack.store.intents.list({ runId: agent.runId, limit: 200 })).toHaveLength(
    positions.length + answers.length,
  );
});
