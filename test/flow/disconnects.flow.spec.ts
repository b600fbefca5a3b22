import { connect as connectSocket, type Socket } from 'node:net';
import type { IntentResult } from '@intendant/contracts';
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

interface Surface {
  readonly path: string;
  readonly headers: readonly string[];
  readonly body: (stepId: string) => object;
}

const surfaces: Readonly<Record<string, Surface>> = {
  MCP: {
    path: '/mcp',
    headers: ['Accept: application/json, text/event-stream'],
    body: (stepId) => {
      const params = { name: tool, arguments: argsOf(stepId), _meta: { 'intendant/stepId': stepId } };
      return { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
    },
  },
  HTTP: {
    path: '/v1/intents',
    headers: ['Prefer: wait=20'],
    body: (stepId) => ({ tool, args: argsOf(stepId), stepId }),
  },
};

/** A whole call as it goes over the wire. */
function wire({ path, headers, body }: Surface, agent: Agent, stepId: string): string {
  const text = JSON.stringify(body(stepId));
  return [
    `POST ${path} HTTP/1.1`,
    `Host: ${new URL(stack.url).host}`,
    `Authorization: Bearer ${agent.token}`,
    ...headers,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(text)}`,
    '',
    text,
  ].join('\r\n');
}

/** The same calls again, by a client that stays. */
async function callAgain(surface: Surface, agent: Agent, steps: readonly string[], check: Check): Promise<void> {
  if (surface.path === '/v1/intents') {
    return each(steps, 8, async (stepId) => {
      const { body } = await agent.postHttp(JSON.stringify(surface.body(stepId)), { prefer: 'wait=20' });
      await check(stepId, body);
    });
  }
  const mcp = await McpAgent.connect(stack.url, agent.token, '2026-07-28');
  await each(steps, 8, async (stepId) => check(stepId, (await mcp.call(tool, argsOf(stepId), { stepId })).result));
  await mcp.close();
}

type Check = (stepId: string, result: IntentResult) => Promise<void>;

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

test.each(Object.keys(surfaces))(
  'a client that disconnects at any byte of a call over %s has at most one effect, and the same call gets the result',
  async (name) => {
    const surface = surfaces[name] as Surface;
    const agent = await stack.agent();
    const sent = (stepId: string) => wire(surface, agent, stepId);
    const whole = sent('cut-0000').length;
    // Around the ends of head and body byte by byte, elsewhere every seventh.
    const head = sent('cut-0000').indexOf('\r\n\r\n') + 4;
    const near = (at: number) => (n: number) => Math.abs(n - at) <= 8;
    const positions = Array.from({ length: whole + 1 }, (_, n) => n).filter(
      (n) => n % 7 === 0 || near(head)(n) || near(whole)(n),
    );
    const stepOf = (n: number) => `cut-${String(n).padStart(4, '0')}`;
    await each(positions, 8, (n) => hangUp(sent(stepOf(n)).slice(0, n), 0));
    for (const n of positions)
      expect(stack.effects(calls.keyOfStep(agent, tool, stepOf(n))).length).toBeLessThanOrEqual(1);
    const answers = [1, 100, 200, 400];
    await each(answers, 4, (n) => hangUp(sent(`answer-${n}`), n));
    const steps = [...positions.map(stepOf), ...answers.map((n) => `answer-${n}`)];
    await callAgain(surface, agent, steps, async (stepId, result) => {
      expect(result).toMatchObject({ status: 'committed', outcome: 'executed' });
      const key = calls.keyOfStep(agent, tool, stepId);
      expect([stack.effects(key).length, stack.requests(key).length], stepId).toEqual([1, 1]);
      expect((await calls.eventsOf(result.intentId)).filter((type) => type.startsWith('cancel'))).toEqual([]);
    });
    expect(positions.length).toBeGreaterThan(90);
    expect(await stack.store.intents.list({ runId: agent.runId, limit: 200 })).toHaveLength(steps.length);
  },
);
