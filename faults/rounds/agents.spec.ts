import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { natsBinary, startNats } from '@intendant/testing';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { Agents } from './agents.js';
import { Channel } from './channel.js';
import { ClientLog } from './client-log.js';
import { planRound, type RoundPlan } from './plan.js';
import type { PlannedIntent } from './plan-load.js';

type Answer = { readonly status: number; readonly body: object } | 'hang up';

let nats: Awaited<ReturnType<typeof startNats>>;
let channel: Channel;
let gateway: Server;
/** What the next submits are answered; the last one holds. */
let script: Answer[] = [];
let submits: { readonly stepId?: string; readonly args: object }[] = [];

beforeAll(async () => {
  natsBinary();
  gateway = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const send = (status: number, body: object) => response.writeHead(status).end(JSON.stringify(body));
      if (request.url === '/v1/runs') {
        return send(201, { runId: 'run_1', token: 'token', expiresAt: new Date(Date.now() + 3_600_000).toISOString() });
      }
      submits.push(JSON.parse(Buffer.concat(chunks).toString('utf8')));
      const answer = script.length > 1 ? script.shift() : script[0];
      if (answer === undefined || answer === 'hang up') return response.destroy();
      return send(answer.status, answer.body);
    });
  });
  gateway.listen(0, '127.0.0.1');
  await once(gateway, 'listening');
  nats = await startNats();
  channel = await Channel.open([`http://127.0.0.1:${(gateway.address() as AddressInfo).port}`], [nats.url]);
});

afterAll(async () => {
  await channel.close();
  await nats.stop();
  gateway.close();
});

const intent: PlannedIntent = {
  ...{ ref: 'r1', tool: 'keyed', amount: 7, run: 0, stepId: 'step-1', atMs: 0, via: 'http', waitS: 0, atOnce: 1 },
  ...{ steps: [], operator: 'leave', upstream: { requests: [], beyondLimits: false, latestMs: 0 } },
};

async function live(over: Partial<PlannedIntent>, ...answers: Answer[]) {
  const { agents, log, living } = await begin(over, ...answers);
  await living;
  return { agents, log: log.entries };
}

async function begin(over: Partial<PlannedIntent>, ...answers: Answer[]) {
  script = [...answers];
  submits = [];
  const some = planRound(1, { short: true, shape: { oldNats: false } });
  const plan: RoundPlan = { ...some, runs: [{ atMs: 0, ttlS: 3_600 }], intents: [{ ...intent, ...over }] };
  const log = new ClientLog();
  const signal = new AbortController().signal;
  const agents = new Agents({ plan, channel, log, tenant: 'acme', serviceKey: 'key', signal });
  await agents.prepare();
  return { agents, log, living: agents.live() };
}

const recorded: Answer = { status: 202, body: { intentId: 'i1', status: 'authorized', outcome: 'undecided' } };
const refused = (status: number, code: string): Answer => ({ status, body: { error: { code } } });

it('sends the same step again until it is answered, and writes down every request', async () => {
  const { agents, log } = await live({}, 'hang up', refused(503, 'unavailable'), recorded);
  expect(submits.map(({ stepId }) => stepId)).toEqual(['step-1', 'step-1', 'step-1']);
  expect(log.map(({ phase, answer }) => [phase, answer?.code ?? answer?.intentId ?? null])).toEqual([
    ['invoke', null],
    ['unanswered', null],
    ['invoke', null],
    ['answered', 'unavailable'],
    ['invoke', null],
    ['answered', 'i1'],
  ]);
  expect(new Set(log.map(({ requestId }) => requestId)).size).toBe(3);
  expect(agents.unanswered).toBe(0);
  expect(agents.busy).toBe(0);
  expect(agents.surprises).toEqual([]);
});

it('is busy until the last step is done, also when everything so far is answered', async () => {
  const { agents, log, living } = await begin({ steps: [{ kind: 'repeat', afterMs: 400, via: 'http' }] }, recorded);
  await vi.waitUntil(() => log.entries.some(({ phase }) => phase === 'answered'));
  expect(agents.unanswered).toBe(0);
  expect(agents.busy).toBe(1);
  await living;
  expect(submits).toHaveLength(2);
  expect(agents.busy).toBe(0);
});

it('takes a conflict for the last word', async () => {
  const { agents } = await live({}, refused(422, 'idempotency_conflict'));
  expect(submits).toHaveLength(1);
  expect(agents.surprises).toEqual([]);
});

it('notes a refusal that nobody should have been told', async () => {
  const { agents } = await live({}, refused(422, 'invalid_arguments'));
  expect(agents.surprises).toEqual(['r1 was told invalid_arguments']);
});

it('submits a step with other arguments only where a conflict is planned', async () => {
  const { log } = await live({ steps: [{ kind: 'conflict', afterMs: 0, via: 'http' }] }, recorded);
  expect(submits.map(({ args }) => args)).toEqual([
    { ref: 'r1', amount: 7 },
    { ref: 'r1', amount: 8 },
  ]);
  expect(new Set(log.map(({ argsHash }) => argsHash)).size).toBe(2);
});

it('begins as many submits at once as are planned', async () => {
  const { log } = await live({ atOnce: 3 }, recorded);
  expect(log.slice(0, 3).map(({ phase }) => phase)).toEqual(['invoke', 'invoke', 'invoke']);
  expect(submits).toHaveLength(3);
});
