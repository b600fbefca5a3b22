import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HttpClient } from './http-client.js';
import { Stack, serviceKey } from './stack.js';

const toolsDir = path.join(path.dirname(fileURLToPath(import.meta.url)), 'tools-phases');
let stack: Stack;
let client: HttpClient;
beforeAll(async () => {
  stack = await Stack.start({ services: ['gateway', 'gateway', 'policy', 'policy'], toolsDir });
  client = new HttpClient(() => stack.url);
});
afterAll(() => stack?.stop());

const good = { user: 'ada', permissions: ['*'], profile: 'interactive' };
const open = (over: object) => client.http('POST', '/v1/runs', serviceKey, { body: { ...good, ...over } });
const runs = async () => Number((await stack.database.query<{ n: string }>('SELECT count(*) AS n FROM runs'))[0]?.n);

/** What the list of tools answers, asked for twelve times through both gateways; all have to say the same. */
async function listed(
  token: string,
): Promise<{ status: number; tools: string[] | undefined; code: string | undefined }> {
  const gateways = stack.services.filter(({ name }) => name === 'gateway');
  const asked = Array.from({ length: 12 }, async (_, at) => {
    const url = gateways[at % gateways.length]?.url;
    const answer = await fetch(`${url}/v1/tools`, { headers: { authorization: `Bearer ${token}` } });
    const body = (await answer.json()) as { tools?: { name: string }[]; error?: { code: string } };
    return { status: answer.status, tools: body.tools?.map(({ name }) => name), code: body.error?.code };
  });
  const [first, ...more] = await Promise.all(asked);
  for (const each of more) expect(each).toEqual(first);
  return first ?? expect.unreachable();
}

describe('a run', () => {
  test('has the limits of its profile, and those that were asked for', async () => {
    const mutating = 1_000;
    expect(await open({})).toMatchObject({
      status: 201,
      body: { budgets: { calls: 20, mutating, destructive: 1, cost: null, wallClockSeconds: 120 } },
    });
    expect((await open({ profile: 'batch' })).body.budgets).toEqual({
      ...{ calls: 100, mutating, destructive: 1, cost: null, wallClockSeconds: 3_600 },
    });
    const budgets = { calls: 500, mutating: 0, destructive: 0, cost: 0.000001, wallClock: '20h' };
    const { body } = await open({ budgets, ttl: '24h' });
    const { wallClock: _, ...limits } = budgets;
    expect(body.budgets).toEqual({ ...limits, wallClockSeconds: 72_000 });
    expect(await stack.store.runs.find(body.runId)).toMatchObject({
      budgets: { calls: 500, mutating: 0, destructive: 0, costMicros: 1 },
    });
  });

  test('is not opened with more than its key may give; every such limit is named with its ceiling', async () => {
    const before = await runs();
    const { status, body } = await open({ budgets: { calls: 1_001, destructive: 101 }, ttl: '1h' });
    expect([status, body.error.code]).toEqual([422, 'invalid_arguments']);
    expect(body.error.details.problems).toEqual([
      { pointer: '/budgets/calls', expected: 'at most 1000, the ceiling of this key', got: '1001' },
      { pointer: '/budgets/destructive', expected: 'at most 100, the ceiling of this key', got: '101' },
    ]);
    expect((await open({ ttl: '1h', budgets: { wallClock: '2h' } })).status).toBe(422);
    expect(await runs()).toBe(before);
  });

  test('shows the tools of the phase it is in, through every gateway and policy service, until it is closed', async () => {
    const { runId, token } = await client.openRun({ phase: 'plan' });
    const enter = (phase: string | null) =>
      client.http('POST', `/v1/runs/${runId}/phase`, serviceKey, { body: { phase } });
    expect((await listed(token)).tools).toEqual(['orders.get']);
    expect(await enter('resolve')).toMatchObject({ status: 200, body: { runId, phase: 'resolve' } });
    expect((await listed(token)).tools).toEqual(['orders.get', 'orders.settle']);
    expect(await enter(null)).toMatchObject({ status: 200, body: { runId, phase: null } });
    expect((await listed(token)).tools).toEqual(['orders.get']);
    expect(await stack.store.runs.find(runId)).toMatchObject({ phase: null, revision: 3 });

    expect((await client.http('POST', `/v1/runs/${runId}/close`, serviceKey)).status).toBe(204);
    expect(await listed(token)).toMatchObject({ status: 401, code: 'run_closed' });
    expect(await enter('resolve')).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } });
  });
});
