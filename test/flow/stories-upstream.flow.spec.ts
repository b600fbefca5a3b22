import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Then } from '../../examples/upstream/server.js';
import { audit } from './audit.js';
import { Stack } from './stack.js';
import { UpstreamCalls } from './upstream-calls.js';

let stack: Stack;
let calls: UpstreamCalls;
beforeAll(async () => {
  stack = await Stack.start({ services: ['policy', 'outbox-relay', 'dispatcher', 'reconciler'] });
  calls = new UpstreamCalls(stack);
});
afterAll(() => stack.stop());

test('a reset on a connection that was used before is an unknown outcome, not one to send again (S35)', async () => {
  const served = new WeakMap<Socket, number>();
  const place = new Map<string, number>();
  // The upstream runs in this process, so its sockets can be told apart.
  const onRequest = (message: unknown) => {
    const { request, socket } = message as { request: IncomingMessage; socket: Socket };
    served.set(socket, (served.get(socket) ?? 0) + 1);
    place.set(String(request.headers['x-attempt-id']), served.get(socket) ?? 0);
  };
  subscribe('http.server.request.start', onRequest);
  await calls.run('effects.keyed', {});
  const { intent, result, causes, requests, effects } = await calls.run('effects.keyed', { then: 'reset' });
  unsubscribe('http.server.request.start', onRequest);

  expect(place.get(intent.attempts[0]?.attemptId ?? '')).toBeGreaterThan(1);
  expect(result).toMatchObject({ status: 'committed', outcome: 'executed' });
  expect(intent).toMatchObject({ proof: 'lookup' });
  expect({ causes, requests, effects }).toEqual({
    causes: [expect.stringMatching(/after_send$/)],
    requests: 1,
    effects: 1,
  });
});

describe.concurrent('an effect whose answer is lost', () => {
  const endings: readonly Then[] = [
    'close',
    'reset',
    'reset_after_status',
    'truncated',
    'cut',
    'garbage',
    'hang',
    'empty200',
    'redirect',
  ];
  for (const then of [...endings, 'status:500', 'status:502', 'status:409'] as const) {
    const story = { reset: ' (S20)', cut: ' (S37)', redirect: ' (S36)', 'status:500': ' (S33)' }[then as string] ?? '';
    test(`by ${then} is found by the lookup and not sent again${story}`, async () => {
      const { result, intent, requests, effects } = await calls.run('effects.keyed', { then });
      expect(result).toMatchObject({
        status: 'committed',
        outcome: 'executed',
        data: { effect_id: expect.any(String) },
      });
      expect(intent).toMatchObject({ proof: 'lookup' });
      expect({ requests, effects }).toEqual({ requests: 1, effects: 1 });
      expect(await calls.eventsOf(intent.proposal.intentId)).not.toContain('attempt_not_executed');
    });
  }

  test('is no success and goes to a person where the upstream can neither be asked nor repeated (S20, S36, S37)', async () => {
    for (const then of ['reset', 'redirect', 'cut', 'empty200', 'status:502'] as const) {
      const { agent, result, requests, effects } = await calls.run('effects.blind', { then });
      expect(result).toMatchObject({
        status: 'dead_lettered',
        outcome: 'unknown',
        data: null,
        error: { code: 'dead_lettered', nextAction: 'ask_human' },
      });
      // The claim on the step is not released: a retry finds the same intent and sends nothing.
      const retry = await agent.submit('effects.blind', { ref: agent.runId }, { stepId: 's1', wait: '1s' });
      expect(retry).toMatchObject({ intentId: result.intentId, status: 'dead_lettered', replayed: true });
      expect({ requests, effects, after: stack.requests(await stack.keyOf(result.intentId)).length }).toEqual({
        requests: 1,
        effects: 1,
        after: 1,
      });
    }
  });

  test('shows as executed only with a receipt that fits; the one of the lookup counts where the answer was no receipt', async () => {
    const { result, intent, causes, requests, effects } = await calls.run('effects.mapped', {});
    expect(result).toMatchObject({ status: 'committed', data: { receipt_id: expect.any(String) } });
    expect(intent).toMatchObject({ proof: 'lookup' });
    expect({ causes, requests, effects }).toEqual({ causes: ['no_receipt'], requests: 1, effects: 1 });
  });

  test('of a request the upstream took on for later is waited for, never sent again', async () => {
    const { result, intent, requests, effects } = await calls.run('effects.searched', {
      then: 'accepted',
      commitAfterMs: 400,
      honourKey: false,
    });
    expect(result.status).toBe('committed');
    expect(await calls.eventsOf(intent.proposal.intentId)).toContain('accepted');
    expect({ requests, effects }).toEqual({ requests: 1, effects: 1 });
  });

  test('that comes late is waited for: an absence inside the settle time never leads to a second request (T2)', async () => {
    const { result, key, requests, effects } = await calls.run('effects.late', {
      then: 'reset',
      commitAfterMs: 1_500,
      honourKey: false,
    });
    expect(result.status).toBe('committed');
    expect({ requests, effects }).toEqual({ requests: 1, effects: 1 });
    const lines = stack.upstream.ledger().filter((entry) => entry.key === key);
    const story = lines.map((entry) => (entry.kind === 'lookup' ? entry.answer : entry.kind));
    // Asked at least once too early, and told "absent".
    expect(story).toEqual(['request', 'absent', 'effect', 'present']);
  });
});

describe.concurrent('a read', () => {
  test('without an answer is asked again', async () => {
    const agent = await stack.agent();
    stack.upstream.behave({ match: { path: '/orders/ord_1' }, behaviour: { then: 'hang' } });
    const result = await agent.submit('orders.get', { order_id: 'ord_1' }, { wait: '20s' });
    expect(result).toMatchObject({ status: 'committed', data: { order_id: 'ord_1' } });
    expect((await calls.load(result.intentId)).attempts.map((attempt) => attempt.cause)).toEqual([
      'call_timeout',
      null,
    ]);
  });

  test('that is never answered is a timeout, and trying again later is safe', async () => {
    const agent = await stack.agent();
    stack.upstream.behave({ match: { path: '/orders/ord_2' }, times: 'always', behaviour: { then: 'hang' } });
    const result = await agent.submit('orders.get', { order_id: 'ord_2' }, { wait: '20s' });
    expect(result).toMatchObject({
      status: 'failed',
      outcome: 'not_executed',
      error: { code: 'tool_timeout', retryable: true, nextAction: 'wait' },
    });
    expect(stack.upstream.ledger().filter((entry) => entry.path === '/orders/ord_2')).toHaveLength(3);
  });
});

test('in the end log, read model and ledger agree', async () => {
  expect(await audit(stack)).toEqual([]);
});
