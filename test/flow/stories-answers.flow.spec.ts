import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Behaviour } from '../../examples/upstream/server.js';
import { audit } from './audit.js';
import { type FrontProxy, startFrontProxy } from './front-proxy.js';
import { Stack } from './stack.js';
import { UpstreamCalls } from './upstream-calls.js';

let proxy: FrontProxy;
let stack: Stack;
let calls: UpstreamCalls;
beforeAll(async () => {
  proxy = await startFrontProxy();
  const services = ['policy', 'outbox-relay', 'dispatcher', 'reconciler'];
  stack = await Stack.start({ services, env: { SECOND_UPSTREAM_URL: proxy.url } });
  proxy.target = stack.upstream.url;
  calls = new UpstreamCalls(stack);
});
afterAll(async () => {
  await stack.stop();
  await proxy.close();
});

/** As `calls.run`, with one behaviour per request in order; the last one holds for all that follow. */
async function runInTurn(tool: string, ...behaviours: Behaviour[]) {
  const agent = await stack.agent();
  const match = { key: calls.keyOfStep(agent, tool, 's1') };
  for (const [index, behaviour] of behaviours.entries()) {
    const times = index === behaviours.length - 1 ? 'always' : 1;
    stack.upstream.behave({ match, times, behaviour });
  }
  const result = await agent.submit(tool, { ref: agent.runId }, { stepId: 's1', wait: '20s' });
  const intent = await calls.load(result.intentId);
  return { agent, result, intent, requests: stack.requests(match.key), effects: stack.effects(match.key) };
}

describe.concurrent('a key', () => {
  test('that a model makes up, and makes up anew for its retry, never reaches the upstream (S04)', async () => {
    const agent = await stack.agent();
    const key = calls.keyOfStep(agent, 'effects.keyonly', 's1');
    stack.upstream.behave({ match: { key }, behaviour: { then: 'hang' } });
    const submit = (made: string) =>
      agent.submit(
        'effects.keyonly',
        { ref: agent.runId, idempotency_key: made, idempotencyKey: made },
        { stepId: 's1', wait: '20s' },
      );
    const first = await submit('made-up-1');
    const second = await submit('made-up-2');
    expect(first.status).toBe('committed');
    expect(second).toEqual({ ...first, replayed: true });
    const requests = stack.upstream.ledger().filter((entry) => entry.kind === 'request' && entry.key === key);
    expect(requests).toHaveLength(2);
    expect(stack.upstream.ledger().filter((entry) => entry.key?.includes('made-up'))).toEqual([]);
    expect(stack.effects(key)).toHaveLength(1);
  });
});

describe.concurrent('a second attempt', () => {
  test('that is told "duplicate" ends as executed, with the receipt of the first (S18)', async () => {
    const { result, intent, requests, effects } = await runInTurn('effects.duplicate', { then: 'hang' }, {});
    expect(result).toMatchObject({ status: 'committed', outcome: 'executed' });
    expect(result.data).toEqual(effects[0]?.answer);
    expect(intent).toMatchObject({ proof: 'response' });
    expect(intent.attempts.map((attempt) => attempt.verdict)).toEqual(['unknown', 'executed']);
    expect([requests.length, effects.length]).toEqual([2, 1]);
  });

  test('that is refused says nothing good about the first: it ends as executed all the same (S18)', async () => {
    const { result, intent, requests, effects } = await runInTurn(
      'effects.keyonly',
      { then: 'hang' },
      { then: 'status:422' },
      {},
    );
    expect(result).toMatchObject({ status: 'committed', outcome: 'executed' });
    expect(intent.attempts.map((attempt) => attempt.verdict)).toEqual(['unknown', 'not_executed', 'executed']);
    expect([requests.length, effects.length]).toEqual([3, 1]);
  });
});

describe.concurrent('a 500 that the upstream keeps for the key', () => {
  test('does not hide the effect from the lookup (S28)', async () => {
    const { result, intent, requests, effects } = await runInTurn('effects.keyed', { then: 'status:500' });
    expect(result).toMatchObject({ status: 'committed', outcome: 'executed', data: effects[0]?.answer });
    expect(intent).toMatchObject({ proof: 'lookup' });
    expect([requests.length, effects.length]).toEqual([1, 1]);
  });

  test.each(['effects.keyed', 'effects.keyonly'])(
    'and no effect end with a person once the attempts are used up, under no other key (S28, %s)',
    async (tool) => {
      const { result, intent, requests, effects } = await runInTurn(tool, { commit: false, then: 'status:500' });
      expect(result).toMatchObject({
        status: 'dead_lettered',
        error: { details: { reason: 'attempts_exhausted' } },
      });
      expect(requests).toHaveLength(intent.maxAttempts);
      expect(new Set(requests.map((request) => request.key)).size).toBe(1);
      expect(effects).toEqual([]);
    },
  );
});

test('a proxy that repeats the request makes no second effect, and the ledger shows what it did (S32)', async () => {
  const { result, intent, requests, effects } = await runInTurn('effects.resent', { then: 'status:503' }, {});
  expect(result).toMatchObject({ status: 'committed', outcome: 'executed' });
  expect(effects).toHaveLength(1);
  // More requests than attempts, under one attempt id: nobody here sends twice.
  expect(intent.attempts).toHaveLength(1);
  expect(requests.map((request) => request.attemptId)).toEqual(Array(2).fill(intent.attempts[0]?.attemptId));
  expect(await audit(stack)).toEqual([`attempt ${intent.attempts[0]?.attemptId} was on the wire 2 times`]);
});
