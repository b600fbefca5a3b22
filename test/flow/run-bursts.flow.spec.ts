import { subjects } from '@intendant/contracts';
import { headers } from '@nats-io/transport-node';
import { Agent as Pool, request } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sized } from './full-size.js';
import { Stack, serviceKey } from './stack.js';

let stack: Stack;
beforeAll(async () => {
  stack = await Stack.start({ services: ['gateway', 'policy', 'outbox-relay', 'dispatcher', 'reconciler'] });
});
afterAll(() => stack?.stop());

interface Opened {
  readonly runId?: string;
  readonly token?: string;
  readonly error?: object;
}

const runs = sized(1_500, 10_000);
/** What the runtimes of agents keep open to the gateway; more at once would wait in the queue of the kernel. */
const connections = 400;
const wanted = (calls: number) =>
  JSON.stringify({ user: 'ada', permissions: ['*'], profile: 'batch', budgets: { calls } });
const stored = async (calls: number) => {
  const [row] = await stack.database.query<{ n: string }>('SELECT count(*) AS n FROM runs WHERE max_calls = $1', [
    calls,
  ]);
  return Number(row?.n);
};

/** Asks for all runs at once, and submits in another run, one after the other, until they are open. */
async function burst(open: () => Promise<Opened>) {
  const agent = await stack.agent();
  let left = runs;
  const opening = Array.from({ length: runs }, () => open().finally(() => (left -= 1)));
  const all = Promise.all(opening);
  // Told below; here only that it is not unhandled while others are waited for.
  all.catch(() => undefined);
  const submitted: { readonly status: string | undefined; readonly meanwhile: boolean }[] = [];
  while (left > 0) {
    const stepId = `s${submitted.length}`;
    const { status } = await agent.submit('effects.keyed', { ref: stepId }, { stepId });
    submitted.push({ status, meanwhile: left > 0 });
  }
  return { opened: await all, submitted };
}

function expectAllAnswered({ opened, submitted }: Awaited<ReturnType<typeof burst>>): void {
  expect(opened.filter(({ runId, token }) => runId === undefined || token === undefined)).toEqual([]);
  expect(new Set(opened.map(({ runId }) => runId)).size).toBe(runs);
  expect(submitted.filter(({ meanwhile }) => meanwhile).length).toBeGreaterThan(0);
  expect(submitted.filter(({ status }) => status === undefined)).toEqual([]);
}

test(`${runs} runs asked for over HTTP are all opened, and whoever submits meanwhile is answered`, async () => {
  const pool = new Pool({ connections });
  const authorized = { authorization: `Bearer ${serviceKey}`, 'content-type': 'application/json' };
  const all = await burst(async () => {
    const question = { method: 'POST', headers: authorized, body: wanted(7), dispatcher: pool } as const;
    const { body } = await request(`${stack.url}/v1/runs`, question);
    return (await body.json()) as Opened;
  });
  await pool.close();
  expectAllAnswered(all);
  expect(await stored(7)).toBe(runs);
  const token = all.opened.at(-1)?.token;
  const tools = await fetch(`${stack.url}/v1/tools`, { headers: { authorization: `Bearer ${token}` } });
  expect(tools.status).toBe(200);
}, 120_000);

test(`${runs} runs asked for over NATS, all at the same moment, are opened as well`, async () => {
  const head = headers();
  head.set('Authorization', `Bearer ${serviceKey}`);
  const all = await burst(async () => {
    const reply = await stack.bus.request(subjects.rpcOpenRun, wanted(8), { headers: head, timeout: 60_000 });
    return reply.json<Opened>();
  });
  expectAllAnswered(all);
  expect(await stored(8)).toBe(runs);
}, 120_000);
