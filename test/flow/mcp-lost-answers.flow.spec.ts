import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Agent } from './clients.js';
import { McpAgent } from './mcp-agent.js';
import { Stack } from './stack.js';

let stack: Stack;
const open: McpAgent[] = [];
beforeAll(async () => {
  stack = await Stack.start({ services: ['outbox-relay', 'dispatcher', 'reconciler', 'gateway'] });
});
afterEach(async () => {
  await Promise.all(stack.services.filter(({ name }) => name === 'policy').map((policy) => policy.stop()));
});
afterAll(async () => {
  await Promise.all(open.map((each) => each.close()));
  expect(await stack.store.verify()).toEqual([]);
  await stack.stop();
});

/** How many effects the calls of a run have had, once they are over. */
async function effectsOf({ runId }: Agent): Promise<number> {
  const intents = await stack.store.intents.list({ runId, limit: 10 });
  await Promise.all(intents.map(({ intentId }) => stack.settled(intentId)));
  const keys = await Promise.all(intents.map(({ intentId }) => stack.keyOf(intentId)));
  return keys.flatMap((key) => stack.effects(key)).length;
}

async function connect(agent: Agent, headers: Record<string, string> = {}) {
  const mcp = await McpAgent.connect(stack.url, agent.token, '2026-07-28', { headers });
  open.push(mcp);
  await mcp.client.listTools();
  return mcp;
}

test.each(['kill', 'pause'])(
  'a policy service that ends (%s) between recording and answering',
  async (how) => {
    const agent = await stack.agent();
    const lost = await stack.launch('policy', `policy.before_reply:1:${how}`);
    const hasty = await connect(agent, { prefer: 'wait=0' });
    const patient = await connect(agent);
    const args = { ref: agent.runId };

    const unclear = await hasty.call('effects.keyed', args, { stepId: 'toolu_1' });
    expect(await effectsOf(agent)).toBe(1);
    expect(unclear).toMatchObject({
      isError: false,
      result: { outcome: 'unknown' },
      error: { code: 'outcome_unknown', retryable: false, details: { stepId: 'toolu_1', runId: agent.runId } },
    });
    expect(unclear.texts[0]).toMatch(/may have happened, or happen yet.*Do not make this call again/s);

    // Who waits longer is told by whoever answers again.
    const waiting = patient.call('effects.keyed', args, { stepId: 'toolu_1' });
    if (how === 'kill') await lost.ended;
    const back = how === 'kill' ? await stack.launch('policy') : lost;
    back.kill('SIGCONT');
    expect(await waiting).toMatchObject({ isError: false, result: { status: 'committed', outcome: 'executed' } });
    expect(await effectsOf(agent)).toBe(1);
  },
  90_000,
);
