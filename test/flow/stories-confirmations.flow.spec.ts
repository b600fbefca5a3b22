import { type Ring, streams, subjects } from '@intendant/contracts';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { audit } from './audit.js';
import { eventually } from './eventually.js';
import { type ResendingProxy, startResendingProxy } from './resending-proxy.js';
import { Stack } from './stack.js';
import { eventsTold } from './told.js';
import { UpstreamCalls } from './upstream-calls.js';

let stack: Stack;
let calls: UpstreamCalls;
let proxy: ResendingProxy;
beforeAll(async () => {
  proxy = await startResendingProxy(() => stack.upstream.url);
  const services = ['policy', 'outbox-relay', 'dispatcher', 'reconciler'];
  stack = await Stack.start({ services, env: { SECOND_UPSTREAM_URL: proxy.url } });
  calls = new UpstreamCalls(stack);
});
afterAll(async () => {
  await stack.stop();
  await proxy.close();
});

/** Lines of the services' logs that say `text`, about one intent. */
function alarmsAbout(intentId: string, text: string): string[] {
  return stack.services.flatMap(({ log }) => log.filter((line) => line.includes(intentId) && line.includes(text)));
}

/** What a poll of the operation of a key was answered, in order, without repetition. */
function pollsOf(key: string): string[] {
  const answers = stack.upstream.ledger().flatMap((entry) => {
    return entry.kind === 'poll' && entry.key === key ? [entry.answer as string] : [];
  });
  return answers.filter((answer, index) => answer !== answers[index - 1]);
}

describe.concurrent('a run', () => {
  test('that is replayed whole, since the model failed after its tools were done, does nothing again (S02)', async () => {
    const agent = await stack.agent();
    const steps = [
      ['orders.get', { order_id: 'ord_1' }, 's1'],
      ['effects.keyed', { ref: agent.runId }, 's2'],
      ['effects.searched', { ref: agent.runId }, 's3'],
    ] as const;
    const play = async () => {
      const results = [];
      for (const [tool, args, stepId] of steps) results.push(await agent.submit(tool, args, { stepId, wait: '20s' }));
      return results;
    };
    const first = await play();
    expect(first.map(({ status, replayed }) => [status, replayed])).toEqual(Array(3).fill(['committed', false]));

    expect(await play()).toEqual(first.map((result) => ({ ...result, replayed: true })));
    for (const { intentId, tool } of first) {
      const key = await stack.keyOf(intentId);
      const attempts = (await calls.load(intentId)).attempts.length;
      const effects = stack.effects(key).length;
      expect({ tool, attempts, effects }).toEqual({ tool, attempts: 1, effects: tool === 'orders.get' ? 0 : 1 });
    }
  });
});

describe.concurrent('a confirmation that comes long after the call was given up', () => {
  test('is waited for, and nothing is sent again meanwhile (S19)', async () => {
    const agent = await stack.agent();
    const behaviour = { then: 'hang', commitAfterMs: 2_800, honourKey: false } as const;
    stack.upstream.behave({ match: { bodyContains: agent.runId }, behaviour });
    const submit = (wait?: string) =>
      agent.submit('effects.confirmed', { ref: agent.runId }, { stepId: 's1', ...(wait && { wait }) });
    const { intentId } = await submit();
    const key = await stack.keyOf(intentId);
    await eventually('it was given up', async () => (await calls.load(intentId)).state === 'unknown');
    expect(stack.effects(key)).toEqual([]);
    expect(await submit()).toMatchObject({ status: 'unknown', error: { code: 'outcome_unknown', retryable: false } });

    expect(await submit('20s')).toMatchObject({ status: 'committed', outcome: 'executed', error: null });
    expect([stack.requests(key).length, stack.effects(key).length]).toEqual([1, 1]);
    expect(await eventsTold(stack, intentId)).toEqual(['outcome_unknown', 'committed']);
  });

  test('of what was accepted is polled for, and nothing is sent again meanwhile (S19)', async () => {
    const agent = await stack.agent();
    const operation = { afterMs: 1_500, end: 'done' } as const;
    stack.upstream.behave({ match: { bodyContains: agent.runId }, behaviour: { then: 'accepted', operation } });
    const submit = (wait?: string) =>
      agent.submit('effects.queued', { ref: agent.runId }, { stepId: 's1', ...(wait && { wait }) });
    const { intentId } = await submit();
    const key = await stack.keyOf(intentId);
    await eventually('it was accepted', async () => (await calls.load(intentId)).state === 'accepted');
    expect(stack.effects(key)).toEqual([]);
    expect(await submit()).toMatchObject({ status: 'accepted', outcome: 'unknown', error: { retryable: false } });

    const result = await submit('20s');
    expect(result).toMatchObject({ status: 'committed', data: { effect_id: expect.any(String) }, error: null });
    expect(await calls.load(intentId)).toMatchObject({ proof: 'poll' });
    expect(pollsOf(key)).toEqual(['queued', 'done']);
    expect([stack.requests(key).length, stack.effects(key).length]).toEqual([1, 1]);
  });

  test('says "done" and never gives a receipt: it proves nothing, and a person is asked', async () => {
    const operation = { afterMs: 0, end: 'done' } as const;
    const { result, intent, requests, effects } = await calls.run('effects.unproven', { then: 'accepted', operation });
    expect(result).toMatchObject({
      status: 'dead_lettered',
      outcome: 'unknown',
      error: { details: { reason: 'poll_deadline' }, message: expect.stringContaining('the receipt is wrong') },
    });
    const types = await calls.eventsOf(intent.proposal.intentId);
    expect(types.filter((type) => type === 'lookup_inconclusive').length).toBeGreaterThan(1);
    expect({ requests, effects }).toEqual({ requests: 1, effects: 1 });
  });
});

describe.concurrent('an upstream', () => {
  test('that accepts a request and gives it up later makes the call fail, and the agent is told so (S38)', async () => {
    const operation = { afterMs: 700, end: 'failed' } as const;
    const { agent, result, key, requests, effects } = await calls.run('effects.queued', {
      then: 'accepted',
      operation,
    });
    expect(result).toMatchObject({
      status: 'failed',
      outcome: 'not_executed',
      error: { code: 'upstream_rejected', message: expect.stringMatching(/failed there later.*Nothing happened/) },
    });
    expect(pollsOf(key)).toEqual(['queued', 'failed']);
    const again = await agent.submit('effects.queued', { ref: agent.runId }, { stepId: 's1', wait: '20s' });
    expect(again).toEqual({ ...result, replayed: true });
    expect({ requests, effects, after: stack.requests(key).length }).toEqual({ requests: 1, effects: 0, after: 1 });
  });

  test('that takes nearly the whole call limit is waited for, not rescued (S40)', async () => {
    const { intent, requests, effects } = await calls.run('effects.late', { delayMs: 2_600, honourKey: false });
    const { intentId } = intent.proposal;
    expect(await calls.eventsOf(intentId)).toEqual(['recorded', 'authorized', 'attempt_started', 'committed']);
    expect(intent).toMatchObject({ state: 'committed', proof: 'response' });
    expect({ requests, effects }).toEqual({ requests: 1, effects: 1 });
    expect(alarmsAbout(intentId, 'lease ended')).toEqual([]);
  });

  test('that asks to come back after more than the bell may ring is asked once, and not earlier (S41)', async () => {
    const manager = await jetstreamManager(stack.bus);
    const { ack_wait } = (await manager.consumers.info(streams.work, 'dispatcher')).config;
    await manager.consumers.update(streams.work, 'dispatcher', { ack_wait: nanos(500) });
    const agent = await stack.agent();
    const behaviour = { commit: false, then: 'status:429', headers: { 'retry-after': '3' }, honourKey: false } as const;
    stack.upstream.behave({ match: { bodyContains: agent.runId }, behaviour });
    const { intentId } = await agent.submit('effects.searched', { ref: agent.runId }, { stepId: 's1' });
    await eventually('it is held back', async () => (await calls.load(intentId)).attempts[0]?.cause === 'http_429');
    // Announced over and over, under versions that nobody has seen.
    for (let version = 1_000; version < 1_005; version += 1) {
      const ring: Ring = { intents: [{ id: intentId, version, tool: 'effects.searched', toolVersion: 1 }] };
      await jetstream(stack.bus).publish(subjects.dispatch, JSON.stringify(ring));
    }

    expect(await stack.settled(intentId)).toBe('committed');
    const key = await stack.keyOf(intentId);
    const [refused, sent, ...more] = stack.requests(key);
    expect({ more, effects: stack.effects(key).length }).toEqual({ more: [], effects: 1 });
    expect((sent?.at ?? 0) - (refused?.at ?? 0)).toBeGreaterThanOrEqual(3_000);
    await manager.consumers.update(streams.work, 'dispatcher', { ack_wait: ack_wait ?? nanos(30_000) });
  });
});

describe.concurrent('something between us and the upstream that sends again by itself', () => {
  test('shows in the ledger as more wire requests than attempts, and the key keeps the effect single (S34)', async () => {
    const { result, intent, key } = await calls.run('effects.relayed', { then: 'status:503' });
    expect(result.status).toBe('committed');
    const [attempt, ...more] = intent.attempts;
    expect(more).toEqual([]);
    expect(stack.requests(key).map(({ attemptId }) => attemptId)).toEqual(Array(2).fill(attempt?.attemptId));
    expect(stack.effects(key)).toHaveLength(1);
    expect(await audit(stack)).toContain(`attempt ${attempt?.attemptId} was on the wire 2 times`);
  });
});

describe.concurrent('an effect', () => {
  test('of which only some parts are there is neither a success nor sent again: a person is asked', async () => {
    const agent = await stack.agent();
    const submit = async (stepId: string, done: number) => {
      const ref = `${agent.runId} ${stepId}`;
      const behaviour = { then: 'reset', honourKey: false, parts: { done, of: 3 } } as const;
      stack.upstream.behave({ match: { bodyContains: ref }, behaviour });
      return agent.submit('effects.parts', { ref, amount: 3 }, { stepId, wait: '20s' });
    };
    const [whole, part] = await Promise.all([submit('s1', 3), submit('s2', 2)]);
    expect(whole.status).toBe('committed');
    expect(part).toMatchObject({
      status: 'dead_lettered',
      outcome: 'unknown',
      error: {
        details: { reason: 'partial_effect' },
        message: expect.stringContaining('2 of 3 parts'),
        retryable: false,
      },
    });
    for (const { intentId } of [whole, part]) expect(stack.requests(await stack.keyOf(intentId))).toHaveLength(1);
  });

  test('that shows up a second time after a resend raises an alarm, and what was told stays as it is', async () => {
    const { result, intent, key } = await calls.run('effects.counted', {
      commit: false,
      then: 'reset',
      honourKey: false,
    });
    const { intentId } = intent.proposal;
    expect(result.status).toBe('committed');
    expect(intent.attempts.map(({ verdict }) => verdict)).toEqual(['absent', 'executed']);
    // What the first request was good for, after all: longer than the upstream says that it takes.
    stack.upstream.behave({ match: { key }, behaviour: { honourKey: false } });
    await fetch(`${stack.upstream.url}/effects/counted`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': key },
      body: '{}',
    });

    await eventually('it was looked at once more', async () => (await calls.eventsOf(intentId)).includes('reviewed'));
    expect(await calls.load(intentId)).toMatchObject({
      state: 'committed',
      data: result.data,
      corrections: [{ finding: 'second_effect', breach: 'max_processing' }],
    });
    expect(await eventsTold(stack, intentId)).toEqual(['outcome_unknown', 'committed', 'corrected']);
    const [alarm, ...more] = alarmsAbout(intentId, 'late evidence: an effect too many');
    expect(JSON.parse(alarm ?? '{}')).toMatchObject({ level: 50, finding: 'second_effect', breach: 'max_processing' });
    expect(more).toEqual([]);
    expect(stack.effects(key)).toHaveLength(2);
  });
});

test('in the end log, read model and ledger agree but where the test made them not', async () => {
  const staged = /^effects\.(parts|counted) |was on the wire 2 times$/;
  expect((await audit(stack)).filter((line) => !staged.test(line))).toEqual([]);
});
