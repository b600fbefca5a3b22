import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Receiver, startReceiver } from '../../apps/notifier/src/receiver.spec-helper.js';
import type { Agent } from './clients.js';
import { eventually } from './eventually.js';
import { everyRow } from './every-row.js';
import { McpAgent } from './mcp-agent.js';
import { Stack } from './stack.js';

/** What the upstream says about a person, with everything that nobody is to read. */
const planted = { holder: 'Quilla Umbra', note: 'paid with 4012 8888 8888 1881 12/27', number: 4012888888881881 };
const operation = 'op-7';
const leak = /.{0,80}(?:quilla|umbra|4012\D{0,3}8888\D{0,3}8888\D{0,3}1881).{0,80}/i;

/** How a call ends, by what its upstream does with it. */
const ends = {
  ok: 'committed',
  refused: 'failed',
  busy: 'failed',
  failed: 'committed',
  words: 'committed',
  cut: 'committed',
  misfit: 'committed',
  lost: 'dead_lettered',
  operation: 'committed',
  given_up: 'failed',
  shown: 'committed',
  not_shown: 'awaiting_approval',
} as const;
type Way = keyof typeof ends;
const ways = Object.keys(ends) as Way[];

function answer(way: Way, part: 'call' | 'lookup' | 'poll' | 'preview'): [status: number, body: string] {
  const receipt = { effect_id: 'e1', ...planted };
  const whole = JSON.stringify(receipt);
  if (part === 'lookup') return way === 'lost' ? [500, whole] : [200, JSON.stringify([receipt])];
  if (part === 'poll') return [200, JSON.stringify({ ...receipt, state: way === 'given_up' ? 'failed' : 'done' })];
  if (part === 'preview') return way === 'not_shown' ? [500, whole] : [200, whole];
  if (way === 'operation' || way === 'given_up') return [202, JSON.stringify({ id: operation, ...planted })];
  if (way === 'refused') return [422, whole];
  if (way === 'busy') return [429, whole];
  if (way === 'words') return [200, `done: ${whole}`];
  if (way === 'misfit') return [200, JSON.stringify({ ...planted, holder: 4012888888881881 })];
  return [way === 'failed' || way === 'lost' ? 500 : 200, whole];
}

/** Every answer of it holds what was planted, also in headers that are kept. */
async function startPlantedUpstream(): Promise<Server> {
  const server = createServer(async (request, reply) => {
    await text(request);
    const [, way, part = 'call'] = new URL(`http://upstream${request.url}`).pathname.split('/');
    const [status, body] = answer(way as Way, part as 'call');
    const headers = {
      'content-type': 'application/json',
      location: '/operation?note=4012888888881881',
      'x-note': '4012888888881881',
    };
    if (way !== 'cut' || part !== 'call') return void reply.writeHead(status, headers).end(body);
    reply.writeHead(200, { ...headers, 'content-length': '100000' }).write(body, () => reply.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

function tool(way: Way): string {
  const isShown = way === 'shown' || way === 'not_shown';
  const approval = `
approval:
  required: true
  view: "Charge {{ref}}"
  preview: { request: { path: /${way}/preview }, before: data, after: "{ 'of': holder, 'at': $headers.\`x-note\` }" }`;
  const poll = way === 'operation' || way === 'given_up';
  return `
apiVersion: intendant/v1
name: planted.${way}
version: 1
description: Charge the card of an order.
effect: write
permission: test:use
input: { type: object, additionalProperties: false, required: [ref], properties: { ref: { type: string } } }
output:
  type: object
  required: [effect_id, holder]
  properties: { effect_id: { type: string }, holder: { type: string }, note: { type: string } }
${isShown ? approval : ''}
limits: { connect: 5s, call: 15s, concurrency: 64 }
retry: { attempts: 2, backoff: 50ms }
result: { redact: [/holder] }
upstream:
  http: { baseUrl: "\${PLANTED_URL}", method: POST, path: /${way}, body: "$args" }
  guarantee: lookup
  maxProcessing: 100ms
  settle: 200ms
  lookup: { path: "/${way}/lookup?key={{key}}", present: "$count(data) > 0", receipt: "data[0]", authoritative: true, spacing: 100ms, deadline: ${way === 'lost' ? '1s' : '60s'} }
  ${poll ? `poll: { path: "/${way}/poll?id={{accepted.id}}", executed: "state = 'done'", failed: "state = 'failed'", interval: 100ms, deadline: 30s }` : ''}
`;
}

let stack: Stack;
let upstream: Server;
let receiver: Receiver;
let directory: string;
const onTheBus: string[] = [];
const answers: string[] = [];

beforeAll(async () => {
  [upstream, receiver] = await Promise.all([startPlantedUpstream(), startReceiver()]);
  directory = await mkdtemp(path.join(os.tmpdir(), 'planted-'));
  await Promise.all(ways.map((way) => writeFile(path.join(directory, `planted.${way}.tool.yaml`), tool(way))));
  const hook = { name: 'ops', url: receiver.url, secret: `whsec_${Buffer.alloc(24, 3).toString('base64')}` };
  stack = await Stack.start({
    services: ['gateway', 'policy', 'outbox-relay', 'dispatcher', 'reconciler', 'notifier'],
    toolsDir: directory,
    env: {
      INTENDANT_LOG_LEVEL: 'trace',
      PLANTED_URL: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
      INTENDANT_WEBHOOKS: JSON.stringify([{ ...hook, tenant: 'acme' }]),
      INTENDANT_PUBLIC_URL: 'https://intendant.example',
    },
  });
  stack.bus.subscribe('>', {
    callback: (_, message) => {
      onTheBus.push(`${message.subject} ${message.headers} ${message.string()}`);
    },
  });
});
afterAll(async () => {
  await stack?.stop();
  await receiver?.close();
  upstream?.closeAllConnections();
  upstream?.close();
  await rm(directory, { recursive: true });
});

const kept = <T>(value: T): T => {
  answers.push(JSON.stringify(value));
  return value;
};

/** What an agent, an approver and an operator can read about it. */
async function readAll(agent: Agent, intentId: string): Promise<void> {
  for (const part of ['', '/events']) {
    const [own, all] = [
      kept(await agent.getHttp(`/v1/intents/${intentId}${part}`)),
      kept(await stack.operator().get(`/v1/intents/${intentId}${part}`)),
    ].map((each) => JSON.stringify(each));
    // By what the upstream is asked later, only operators read.
    expect(own).not.toContain(operation);
    if (part === '/events' && all?.includes('"type":"accepted"')) expect(all).toContain(operation);
  }
  kept(await agent.getHttp(`/v1/results/res_${intentId}`));
  kept(await stack.person('erin').get(`/v1/approvals/${intentId}`));
  kept(await stack.operator().get(`/v1/dead-letters/${intentId}`));
}

async function approve(intentId: string, preview: string): Promise<void> {
  const erin = stack.person('erin');
  const card = await eventually('the preview was asked', async () => {
    const { body } = await erin.get<{ digest: string; preview: { kind: string } }>(`/v1/approvals/${intentId}`);
    return body.preview.kind === preview ? kept(body) : undefined;
  });
  expect(JSON.stringify(card)).toContain('[redacted]');
  if (preview === 'shown') kept(await erin.post(`/v1/approvals/${intentId}/approve`, { digest: card.digest }));
}

test('what results must not hold appears in no row, answer, message, log line or notice, whatever the upstream says it in', async () => {
  const agent = await stack.agent({ profile: 'batch' });
  const mcp = await McpAgent.connect(stack.url, agent.token, '2026-07-28');
  const states = await Promise.all(
    ways.map(async (way) => {
      const asked = way === 'shown' || way === 'not_shown';
      const wait = asked ? {} : { wait: '20s' };
      const stepId = way;
      const { intentId } = kept(await agent.submit(`planted.${way}`, { ref: way }, { stepId, ...wait }));
      if (asked) await approve(intentId, way === 'shown' ? 'shown' : 'failed');
      const state = way === 'not_shown' ? 'awaiting_approval' : await stack.settled(intentId, 60_000);
      await readAll(agent, intentId);
      // The same call, which waits for as long as people do.
      if (state !== 'awaiting_approval') kept(await mcp.call(`planted.${way}`, { ref: way }, { stepId }));
      return [way, state];
    }),
  );
  expect(Object.fromEntries(states)).toEqual(ends);
  const stream = await fetch(`${stack.url}/v1/runs/${agent.runId}/events`, {
    headers: { authorization: `Bearer ${agent.token}` },
  });
  answers.push(await stream.text());
  await mcp.close();
  await eventually('people were told of what waits for them', () =>
    ['planted.not_shown', 'planted.shown', 'planted.lost'].every((name) =>
      receiver.deliveries.some(({ body }) => body.includes(name)),
    ),
  );

  const found = {
    rows: await everyRow(stack.database),
    answers,
    bus: onTheBus,
    logs: stack.services.flatMap(({ log }) => log),
    notices: receiver.deliveries.map(({ body }) => body),
  };
  for (const [where, texts] of Object.entries(found)) {
    expect(texts.length, where).toBeGreaterThan(0);
    if (where !== 'logs' && where !== 'notices') expect(texts.join('\n'), where).toContain('[redacted]');
    expect(
      texts.flatMap((each) => leak.exec(each)?.[0] ?? []),
      where,
    ).toEqual([]);
  }
}, 120_000);
