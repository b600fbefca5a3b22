import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Agent } from './clients.js';
import { eventually } from './eventually.js';
import { HttpClient } from './http-client.js';
import { Stack, serviceKey } from './stack.js';

const here = path.dirname(fileURLToPath(import.meta.url));
const services = ['gateway', 'policy', 'policy', 'policy', 'outbox-relay', 'dispatcher', 'dispatcher', 'reconciler'];

let stack: Stack;
let client: HttpClient;
beforeAll(async () => {
  const env = { INTENDANT_POLICY_DIR: path.join(here, 'policy-admission') };
  stack = await Stack.start({ services, toolsDir: path.join(here, 'tools-admission'), env });
  client = new HttpClient(() => stack.url);
});
afterAll(async () => {
  await stack?.stop();
});

async function openAgent(over: object = {}): Promise<Agent> {
  const { runId, token } = await client.openRun(over);
  return new Agent(stack.bus, () => stack.url, runId, token);
}

/** Effects that the upstream knows of, of all intents of these runs. */
async function effectsOf(...agents: readonly Agent[]): Promise<number> {
  const rows = await stack.database.query<{ key: string }>('SELECT key FROM intents WHERE run_id = ANY ($1)', [
    agents.map(({ runId }) => runId),
  ]);
  return rows.reduce((sum, { key }) => sum + stack.effects(key).length, 0);
}

const refundAll = (agents: readonly Agent[], count: number, ref: (i: number) => string, wait = '20s') =>
  Promise.all(
    Array.from({ length: count }, (_, i) => {
      const agent = agents[i % agents.length] as Agent;
      return agent.submit(
        'bank.refund',
        { ref: `${ref(i)} ${agents[0]?.runId}`, cents: 100 },
        { stepId: `s${i}`, wait },
      );
    }),
  );

describe('many that ask at once, over three policies', () => {
  test('get no more effects than their budget allows, by the ledger of the upstream (T8)', async () => {
    const agent = await openAgent({ budgets: { calls: 1_000, destructive: 7 } });
    const answers = await refundAll([agent], 40, (i) => `order ${i}`);
    const committed = answers.filter(({ status }) => status === 'committed');
    expect(committed).toHaveLength(7);
    expect(await effectsOf(agent)).toBe(7);
    const denied = answers.filter(({ status }) => status === 'denied');
    expect(denied).toHaveLength(33);
    for (const { error } of denied) {
      expect(error).toMatchObject({
        code: 'budget_exhausted',
        nextAction: 'stop',
        retryable: false,
        details: { which: 'destructive', used: 7, limit: 7 },
      });
    }
    const { status, body } = await agent.getHttp(`/v1/intents/${committed[0]?.intentId}`);
    expect([status, body.status], 'results can still be read').toEqual([200, 'committed']);
    const again = await agent.postHttp(
      JSON.stringify({ tool: 'bank.refund', args: { ref: 'one more', cents: 1 }, stepId: 'more' }),
    );
    expect(again.status).toBe(429);
  });

  test('get as many as their cost allows, and what failed is given back', async () => {
    const agent = await openAgent({ budgets: { calls: 1_000, destructive: 100, cost: 5 } });
    const behaviour = { commit: false, then: 'status:422' } as const;
    stack.upstream.behave({ match: { bodyContains: `lost ${agent.runId}` }, times: 'always', behaviour });
    for (const stepId of ['l1', 'l2', 'l3']) {
      const args = { ref: `lost ${agent.runId}`, cents: 300 };
      expect(await agent.submit('bank.refund', args, { stepId, wait: '20s' })).toMatchObject({ status: 'failed' });
    }
    const answers = await refundAll([agent], 12, (i) => `good ${i}`);
    expect(answers.filter(({ status }) => status === 'committed')).toHaveLength(5);
    expect(await effectsOf(agent)).toBe(5);
    const denied = answers.find(({ status }) => status === 'denied');
    expect(denied?.error).toMatchObject({ code: 'budget_exhausted', details: { which: 'cost', used: 5, limit: 5 } });
  });

  test('do one business operation once, whichever run they come from (S17)', async () => {
    const agents = await Promise.all([openAgent(), openAgent(), openAgent()]);
    const answers = await refundAll(agents, 30, () => 'the same order');
    const committed = answers.filter(({ status }) => status === 'committed');
    expect(new Set(committed.map(({ intentId }) => intentId)).size).toBe(1);
    expect(await effectsOf(...agents)).toBe(1);
    const others = answers.filter(({ status }) => status !== 'committed');
    expect(others.map(({ error }) => error?.code)).toEqual(
      others.map(() => expect.stringMatching(/^(duplicate_business_operation|blocked_by_unknown)$/)),
    );
  });

  test('are held to one rate, and told when to come back (T14)', async () => {
    const agent = await openAgent();
    const body = (i: number) =>
      JSON.stringify({ tool: 'bank.note', args: { ref: `${i} ${agent.runId}` }, stepId: `n${i}` });
    const from = performance.now();
    const answers = await Promise.all(
      Array.from({ length: 50 }, async (_, i) => {
        const answer = await client.http('POST', '/v1/intents', agent.token, { body: body(i) });
        return { i, ...answer };
      }),
    );
    const admitted = answers.filter(({ status }) => status < 300);
    // Twenty at once, and one for each three seconds that it has taken.
    expect(admitted.length).toBeGreaterThanOrEqual(20);
    expect(admitted.length).toBeLessThanOrEqual(20 + Math.ceil((performance.now() - from) / 3_000));
    const limited = answers.find(({ status }) => status === 429);
    expect(limited?.body.error).toMatchObject({ code: 'rate_limited', retryable: true, nextAction: 'wait' });
    const seconds = Number(limited?.headers.get('retry-after'));
    expect(seconds).toBeGreaterThanOrEqual(1);
    expect(seconds).toBeLessThanOrEqual(3);
    // What is published meanwhile is not lost: it comes when there is room.
    await agent.publish(body(1_000));
    await eventually(
      'the published one is admitted',
      async () => {
        const intents = await stack.store.intents.list({ runId: agent.runId, limit: 100 });
        return intents.some(({ stepId }) => stepId === 'n1000');
      },
      60_000,
    );
  }, 90_000);
});

describe('an agent', () => {
  test('that asks for the same operation under a new step while its outcome is unknown is told to wait, and then what happened (S17)', async () => {
    const [agent, other] = await Promise.all([openAgent(), openAgent()]);
    const args = { ref: `charged ${agent.runId}`, cents: 500 };
    const behaviour = { then: 'hang', lookup: 'lag:2500' } as const;
    stack.upstream.behave({ match: { bodyContains: `charged ${agent.runId}` }, behaviour });
    const first = await agent.submit('bank.refund', args, { stepId: 's1' });
    await eventually('its outcome is unknown', async () => {
      return (await stack.store.intents.load(first.intentId))?.state === 'unknown';
    });
    const held = await agent.submit('bank.refund', args, { stepId: 's2' });
    expect(held.error).toMatchObject({
      code: 'blocked_by_unknown',
      ...{ nextAction: 'check_outcome', retryable: false, message: expect.stringContaining(first.intentId) },
      details: { intentId: first.intentId, state: 'unknown' },
    });
    const elsewhere = await other.submit('bank.refund', args, { stepId: 's1' });
    expect(elsewhere).toMatchObject({
      status: 'denied',
      error: { code: 'duplicate_business_operation', details: { intentId: first.intentId, state: 'unknown' } },
    });
    expect(
      (await agent.submit('bank.refund', { ...args, ref: `another ${agent.runId}` }, { stepId: 's3', wait: '20s' }))
        .status,
    ).toBe('committed');
    expect(await stack.settled(first.intentId)).toBe('committed');
    const after = await agent.submit('bank.refund', args, { stepId: 's2' });
    expect(after).toMatchObject({
      status: 'denied',
      error: {
        code: 'duplicate_business_operation',
        ...{ nextAction: 'check_outcome', retryable: false, message: expect.stringContaining(first.intentId) },
        details: { state: 'committed' },
      },
    });
    expect(stack.effects(await stack.keyOf(first.intentId))).toHaveLength(1);
  });

  test('may use what a result has brought, in the phase that its run is in, and is watched once it has read foreign text', async () => {
    const agent = await openAgent({ phase: 'triage' });
    const find = (stepId: string) => agent.submit('orders.find', { ref: agent.runId }, { stepId, wait: '20s' });
    expect((await find('too-early')).error).toMatchObject({
      ...{
        code: 'permission_denied',
        nextAction: 'stop',
        retryable: false,
        message: expect.stringContaining('triage'),
      },
    });
    const invented = await agent.submit('orders.close', { ref: 'ef_1' }, { stepId: 'close' });
    expect(invented.error).toMatchObject({
      code: 'fabricated_identifier',
      ...{ nextAction: 'fix_arguments', message: expect.stringContaining('orders.find') },
      details: { sources: ['orders.find#/effect_id'] },
    });

    const phase = { body: { phase: 'resolve' } };
    const entered = await client.http('POST', `/v1/runs/${agent.runId}/phase`, serviceKey, phase);
    expect(entered.status).toBeLessThan(300);
    const refund = (cents: number, stepId: string) =>
      agent.submit('bank.refund', { ref: `${stepId} ${agent.runId}`, cents }, { stepId, wait: '20s' });
    expect(await refund(2_000, 'before')).toMatchObject({ status: 'committed' });
    const found = await find('found');
    expect(found).toMatchObject({ status: 'committed' });
    const { effect_id: ref } = found.data as { effect_id: string };
    const closed = await agent.submit('orders.close', { ref }, { stepId: 'close', wait: '20s' });
    expect(closed).toMatchObject({ status: 'committed', taintedBy: found.intentId });
    expect(await refund(2_000, 'after')).toMatchObject({
      status: 'denied',
      error: {
        ...{ code: 'rule_denied', nextAction: 'stop', retryable: false, message: expect.stringMatching(/\w{4}/) },
        details: { rule: 'no-refund-after-foreign-text', 'run.tainted': true },
      },
    });
    expect(await refund(1_000, 'small')).toMatchObject({ status: 'committed', taintedBy: found.intentId });
  });

  test('whose run has left the phase before its call was sent is denied by whoever would have sent it', async () => {
    const agent = await openAgent({ phase: 'resolve' });
    const paused = await stack
      .operator()
      .put<{ pause: { id: string } }>('/v1/pauses', { tool: 'orders.find', reason: 'x' });
    await agent.publish(JSON.stringify({ tool: 'orders.find', args: { ref: agent.runId }, stepId: 's1' }));
    await eventually('it waits', async () => {
      const [intent] = await stack.store.intents.list({ runId: agent.runId, limit: 1 });
      return intent?.status === 'authorized';
    });
    await client.http('POST', `/v1/runs/${agent.runId}/phase`, serviceKey, { body: { phase: 'closing' } });
    await stack.operator().delete(`/v1/pauses/${paused.body.pause.id}`);
    const [intent] = await stack.store.intents.list({ runId: agent.runId, limit: 1 });
    expect(await stack.settled(intent?.intentId ?? '')).toBe('denied');
    expect(await effectsOf(agent)).toBe(0);
  });
});
