import { once } from 'node:events';
import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Behaviour, startUpstream } from '../../examples/upstream/server.js';
import { audit } from './audit.js';
import { Stack } from './stack.js';
import { UpstreamCalls } from './upstream-calls.js';

let stack: Stack;
let calls: UpstreamCalls;
let secondUrl: string;
beforeAll(async () => {
  // An address that nothing listens on until a test does.
  const second = await startUpstream();
  secondUrl = second.url;
  await second.close();
  const services = ['policy', 'outbox-relay', 'dispatcher', 'reconciler'];
  stack = await Stack.start({ services, env: { SECOND_UPSTREAM_URL: secondUrl } });
  calls = new UpstreamCalls(stack);
});
afterAll(() => stack.stop());

describe.concurrent('a request that had no effect', () => {
  test('and no answer is sent again once it is proven absent, with the same key under another attempt id (S31)', async () => {
    const { result, intent, key } = await calls.run('effects.searched', {
      commit: false,
      then: 'reset',
      honourKey: false,
    });
    expect(result.status).toBe('committed');
    const requests = stack.requests(key);
    const ids = requests.map((request) => request.attemptId);
    expect(ids).toEqual(intent.attempts.map((attempt) => attempt.attemptId));
    expect(new Set(ids).size).toBe(2);
    expect(stack.effects(key)).toHaveLength(1);
    const lookups = stack.upstream.ledger().filter((entry) => entry.kind === 'lookup' && entry.key === key);
    expect(lookups.length).toBeGreaterThanOrEqual(2);
  });

  test('and no answer is sent again under the key the upstream remembers (S31)', async () => {
    const { result, requests, effects, intent } = await calls.run('effects.keyonly', { commit: false, then: 'close' });
    expect(result.status).toBe('committed');
    expect({ requests, effects }).toEqual({ requests: 2, effects: 1 });
    expect(new Set(intent.attempts.map((attempt) => attempt.attemptId)).size).toBe(2);
  });

  test('but a page to be redirected to is not taken for a success; the page is never asked for (S36)', async () => {
    const { result, requests, effects } = await calls.run('effects.searched', {
      commit: false,
      then: 'redirect',
      honourKey: false,
    });
    expect(result.status).toBe('committed');
    expect({ requests, effects }).toEqual({ requests: 2, effects: 1 });
    expect(stack.upstream.ledger().filter((entry) => entry.path === '/pages/done')).toEqual([]);
  });

  test('and is refused is a failure that says that nothing happened', async () => {
    const { agent, result, requests, effects } = await calls.run('effects.keyed', {
      commit: false,
      then: 'status:403',
    });
    expect(result).toMatchObject({
      status: 'failed',
      outcome: 'not_executed',
      error: { code: 'upstream_rejected', category: 'dependency', retryable: false },
    });
    const again = await agent.submit('effects.keyed', { ref: agent.runId }, { stepId: 's1', wait: '20s' });
    expect(again).toEqual({ ...result, replayed: true });
    expect({ requests, effects }).toEqual({ requests: 1, effects: 0 });
  });
});

describe.concurrent('the upstream', () => {
  test('may answer "in progress" five times before it tells the outcome of the one effect (S26)', async () => {
    const { result, causes, key, requests, effects } = await calls.run('effects.busy', {
      then: 'status:409',
      inProgress: 4,
    });
    expect(result.status).toBe('committed');
    expect(causes).toEqual([...Array(5).fill('in_progress'), null]);
    expect({ requests, effects }).toEqual({ requests: 6, effects: 1 });
    expect(new Set(stack.requests(key).map((request) => request.attemptId)).size).toBe(6);
  });

  test('may know the key from another body: the intent is parked, under no other key (S25)', async () => {
    const agent = await stack.agent();
    const key = calls.keyOfStep(agent, 'effects.reused', 's1');
    const foreign = { 'content-type': 'application/json', 'idempotency-key': key };
    await fetch(`${stack.upstream.url}/effects/reused`, {
      method: 'POST',
      headers: foreign,
      body: '{"from":"elsewhere"}',
    });

    const result = await agent.submit('effects.reused', { ref: agent.runId }, { stepId: 's1', wait: '20s' });
    expect(result).toMatchObject({
      status: 'dead_lettered',
      outcome: 'unknown',
      error: { details: { reason: 'attempts_exhausted' } },
    });
    expect(await stack.keyOf(result.intentId)).toBe(key);
    expect([stack.requests(key).length, stack.effects(key).length]).toEqual([1 + 3, 1]);
  });

  test('may be away: the call fails after its attempts and nothing is sent when the upstream comes back', async () => {
    const agent = await stack.agent();
    const result = await agent.submit('effects.away', { ref: 'first' }, { stepId: 's1', wait: '20s' });
    expect(result).toMatchObject({
      status: 'failed',
      outcome: 'not_executed',
      error: { code: 'upstream_unavailable', nextAction: 'wait' },
    });
    expect((await calls.load(result.intentId)).attempts.map((attempt) => attempt.verdict)).toEqual(
      Array(3).fill('not_executed'),
    );

    const second = await startUpstream({ port: Number(new URL(secondUrl).port) });
    try {
      const again = await agent.submit('effects.away', { ref: 'first' }, { stepId: 's1', wait: '20s' });
      expect(again).toEqual({ ...result, replayed: true });
      await stack.ask('intendant.rpc.reconcile');
      const later = await agent.submit('effects.away', { ref: 'second' }, { stepId: 's2', wait: '20s' });
      expect(later.status).toBe('committed');
      const key = await stack.keyOf(later.intentId);
      expect(second.ledger().map(({ kind, ...entry }) => [kind, entry.key])).toEqual([
        ['request', key],
        ['effect', key],
      ]);
    } finally {
      await second.close();
    }
  });
});

test('a receipt with a NUL and half a surrogate pair is kept like any other', async () => {
  const receipt = { effect_id: 'a\0b\ud800c' };
  const server = createServer((_, response) =>
    response.setHeader('content-type', 'application/json').end(JSON.stringify(receipt)),
  );
  server.listen(Number(new URL(secondUrl).port), '127.0.0.1');
  await once(server, 'listening');
  const agent = await stack.agent();
  const result = await agent.submit('effects.away', { ref: 'odd' }, { stepId: 's1', wait: '20s' });
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  expect(result).toMatchObject({ status: 'committed', data: receipt });
});

describe('a dead letter that is replayed', () => {
  async function deadLetter(behaviour: Behaviour) {
    const agent = await stack.agent();
    const key = calls.keyOfStep(agent, 'effects.hasty', 's1');
    stack.upstream.behave({ match: { key }, behaviour });
    stack.upstream.behave({ match: { key }, times: 'always', behaviour: { lookup: 'error' } });
    const result = await agent.submit('effects.hasty', { ref: agent.runId }, { stepId: 's1', wait: '20s' });
    expect(result).toMatchObject({ status: 'dead_lettered', error: { details: { reason: 'lookup_deadline' } } });
    expect(stack.requests(key)).toHaveLength(1);
    stack.upstream.reset();
    const command = { type: 'replay', by: 'olga', reason: 'the upstream is well again' } as const;
    const replayed = await stack.store.door.execute({ intentId: result.intentId, command });
    expect(replayed).toMatchObject({ kind: 'accepted', intent: { state: 'unknown' } });
    return { intentId: result.intentId, key };
  }

  test('is looked for first and not sent when it is found', async () => {
    const { intentId, key } = await deadLetter({ then: 'reset' });
    expect(await stack.settled(intentId)).toBe('committed');
    expect([stack.requests(key).length, stack.effects(key).length]).toEqual([1, 1]);
  });

  test('is sent once more when it is proven absent', async () => {
    const { intentId, key } = await deadLetter({ commit: false, then: 'reset' });
    expect(await stack.settled(intentId)).toBe('committed');
    expect([stack.requests(key).length, stack.effects(key).length]).toEqual([2, 1]);
    const types = await calls.eventsOf(intentId);
    const after = types.slice(types.indexOf('replay_requested'));
    expect(after.filter((type) => type === 'lookup_absent').length).toBe(2);
  });
});

test('in the end log, read model and ledger agree', async () => {
  // The second upstream's ledger is judged where it is used.
  const found = await audit(stack);
  expect(found.filter((line) => !line.startsWith('effects.away'))).toEqual([]);
});
