import { createHash } from 'node:crypto';
import type { Intent } from '@intendant/intent';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { audit } from './audit.js';
import { eventually } from './eventually.js';
import { Stack } from './stack.js';

let stack: Stack;
beforeAll(async () => {
  // Two replicas decide on admission.
  stack = await Stack.start({ services: ['policy', 'policy', 'outbox-relay', 'dispatcher', 'reconciler'] });
});
afterAll(() => stack.stop());

const load = async (intentId: string): Promise<Intent> => {
  const intent = await stack.store.intents.load(intentId);
  if (!intent) throw new Error(`no intent ${intentId}`);
  return intent;
};
const cancel = (intentId: string) => stack.store.door.execute({ intentId, command: { type: 'cancel', by: 'ada' } });
/** Why it was not known, each time it became unknown. */
const doubtsAbout = async (intentId: string) =>
  (await stack.store.intents.history(intentId)).flatMap(({ event }) =>
    event.type === 'outcome_unknown' ? [event.cause] : [],
  );

const stopDispatchers = () =>
  Promise.all(stack.services.filter((service) => service.name === 'dispatcher').map((service) => service.stop()));

test('an intent that is cancelled before its dispatch is never sent, and says so when asked again (T9)', async () => {
  await stopDispatchers();
  const agent = await stack.agent();
  const submitted = await agent.submit('effects.keyed', { ref: 't9' }, { stepId: 's1' });
  expect(submitted).toMatchObject({ status: 'authorized', outcome: 'undecided', error: null });

  const { intentId } = submitted;
  expect(await cancel(intentId)).toMatchObject({ kind: 'accepted', intent: { state: 'cancelled' } });
  expect(await cancel(intentId)).toMatchObject({ kind: 'unchanged' });

  const dispatcher = await stack.launch('dispatcher');
  // Authorized later, so that its dispatch shows that the cancelled one was passed by.
  const next = await agent.submit('effects.keyed', { ref: 't9' }, { stepId: 's2', wait: '20s' });
  expect(next.status).toBe('committed');
  await stack.ask('intendant.rpc.reconcile');
  expect(stack.requests(await stack.keyOf(intentId))).toEqual([]);

  const again = await agent.submit('effects.keyed', { ref: 't9' }, { stepId: 's1', wait: '20s' });
  expect(again).toMatchObject({
    intentId,
    status: 'cancelled',
    outcome: 'not_executed',
    replayed: true,
    error: { code: 'cancelled', nextAction: 'stop', message: expect.stringMatching(/cancelled .*Nothing happened/) },
  });
  expect(dispatcher.log.join('\n')).not.toContain('"level":50');
});

test('cancelling what is on the wire aborts it, and the intent ends in what really happened (T9)', async () => {
  const agent = await stack.agent();
  stack.upstream.behave({ match: { bodyContains: agent.runId }, behaviour: { then: 'hang' } });
  const { intentId } = await agent.submit('effects.late', { ref: agent.runId }, { stepId: 's1' });
  const key = await stack.keyOf(intentId);
  await stack.upstream.waitForRequest({ key }, 20_000);

  expect(await cancel(intentId)).toMatchObject({ kind: 'accepted', intent: { state: 'dispatching' } });
  expect(await stack.settled(intentId)).toBe('committed');
  expect(await doubtsAbout(intentId)).toEqual(['aborted']);
  expect([stack.requests(key).length, stack.effects(key).length]).toEqual([1, 1]);
});

test('a cancelled call that did not happen is not sent again, and says that it was cancelled (T9)', async () => {
  const agent = await stack.agent();
  stack.upstream.behave({ match: { bodyContains: agent.runId }, behaviour: { commit: false, then: 'hang' } });
  const call = ['effects.searched', { ref: agent.runId }, { stepId: 's1' }] as const;
  const { intentId } = await agent.submit(...call);
  const key = await stack.keyOf(intentId);
  await stack.upstream.waitForRequest({ key }, 20_000);

  expect(await cancel(intentId)).toMatchObject({ kind: 'accepted' });
  expect(await stack.settled(intentId)).toBe('failed');
  expect(await agent.submit(...call)).toMatchObject({
    status: 'failed',
    outcome: 'not_executed',
    error: { code: 'cancelled', retryable: false },
  });
  expect([stack.requests(key).length, stack.effects(key).length]).toEqual([1, 0]);
});

test('cancelling an intent whose outcome is unknown ends in what really happened (T9)', async () => {
  const agent = await stack.agent();
  const behaviour = { then: 'reset', lookup: 'lag:1500' } as const;
  stack.upstream.behave({ match: { bodyContains: agent.runId }, behaviour });
  const { intentId } = await agent.submit('effects.late', { ref: agent.runId }, { stepId: 's1' });
  await eventually('its outcome is unknown', async () => (await load(intentId)).state === 'unknown');

  const asked = await agent.submit('effects.late', { ref: agent.runId }, { stepId: 's1' });
  expect(asked).toMatchObject({ intentId, status: 'unknown', error: { code: 'outcome_unknown', retryable: false } });
  expect(await cancel(intentId)).toMatchObject({ kind: 'accepted', intent: { state: 'unknown' } });
  expect(await stack.settled(intentId)).toBe('committed');
  expect(stack.effects(await stack.keyOf(intentId))).toHaveLength(1);
});

test('a retried submit is answered from the first and takes effect once (S01)', async () => {
  const agent = await stack.agent();
  const submit = () => agent.submit('effects.keyed', { ref: 's01' }, { stepId: 'refund', wait: '20s' });
  const first = await submit();
  expect(first).toMatchObject({ status: 'committed', replayed: false });

  const retries = await Promise.all([submit(), submit(), submit()]);
  for (const retry of retries) expect(retry).toEqual({ ...first, replayed: true });
  const key = await stack.keyOf(first.intentId);
  expect([stack.requests(key).length, stack.effects(key).length]).toEqual([1, 1]);
  expect((await load(first.intentId)).version).toBe(4);
});

test('one step called twice is one effect, two steps with the same arguments are two (S03, S25)', async () => {
  const agent = await stack.agent();
  const submit = (stepId: string) => agent.submit('effects.keyed', { ref: 's03' }, { stepId, wait: '20s' });
  const [a, sameStep, b] = await Promise.all([submit('a'), submit('a'), submit('b')]);

  expect(sameStep.intentId).toBe(a.intentId);
  expect(b.intentId).not.toBe(a.intentId);
  const keys = [await stack.keyOf(a.intentId), await stack.keyOf(b.intentId)];
  expect(keys[0]).not.toBe(keys[1]);
  for (const key of keys) expect(stack.effects(key)).toHaveLength(1);
});

test('the same step and arguments in two runs are two effects (S03)', async () => {
  const agents = await Promise.all([stack.agent(), stack.agent()]);
  const results = await Promise.all(
    agents.map((agent) => agent.submit('effects.keyed', { ref: 'runs' }, { stepId: 's1', wait: '20s' })),
  );
  expect(new Set(results.map((result) => result.intentId)).size).toBe(2);
  for (const { intentId } of results) expect(stack.effects(await stack.keyOf(intentId))).toHaveLength(1);
});

test('fields in another order and numbers in another spelling are the same call, with a step and without (S24)', async () => {
  const spellings = [
    '{"ref":"s24","amount":100}',
    '{"amount":100,"ref":"s24"}',
    '{ "amount": 1e2, "ref": "\\u0073\\u00324" }',
  ];
  for (const step of ['"stepId":"s1",', '']) {
    const agent = await stack.agent();
    const ids = new Set<string>();
    for (const args of spellings) {
      const result = await agent.request(`{"tool":"effects.keyed",${step}"args":${args}}`, '20s');
      expect(result).toMatchObject({ status: 'committed', replayed: ids.size > 0 });
      ids.add(result.intentId);
    }
    expect(ids.size).toBe(1);
    expect(stack.effects(await stack.keyOf([...ids].join()))).toHaveLength(1);
  }
});

test('without a step, other arguments are another call (S24)', async () => {
  const agent = await stack.agent();
  const one = await agent.submit('effects.keyed', { ref: 's24', amount: 1 }, { wait: '20s' });
  const two = await agent.submit('effects.keyed', { ref: 's24', amount: 2 }, { wait: '20s' });
  expect(two).toMatchObject({ status: 'committed', replayed: false });
  expect(two.intentId).not.toBe(one.intentId);
});

test('the same step with another amount is a conflict, and the upstream is not called (S27, T3)', async () => {
  const agent = await stack.agent();
  const first = await agent.submit('effects.keyed', { ref: 's27', amount: 1 }, { stepId: 's1', wait: '20s' });
  const other = await agent.submit('effects.keyed', { ref: 's27', amount: 2 }, { stepId: 's1', wait: '20s' });

  expect(other.error).toMatchObject({
    code: 'idempotency_conflict',
    category: 'conflict',
    retryable: false,
    nextAction: 'stop',
  });
  expect(other.error?.details).toEqual({ intentId: first.intentId });
  const key = await stack.keyOf(first.intentId);
  expect([stack.requests(key).length, stack.effects(key).length]).toEqual([1, 1]);
  expect(await stack.store.intents.list({ runId: agent.runId, limit: 10 })).toHaveLength(1);
});

test('a call repeated while it is in flight is answered with the same intent (T3)', async () => {
  const agent = await stack.agent();
  stack.upstream.behave({ match: { bodyContains: agent.runId }, behaviour: { delayMs: 1_000 } });
  const { intentId } = await agent.submit('effects.late', { ref: agent.runId }, { stepId: 's1' });
  const key = await stack.keyOf(intentId);
  await stack.upstream.waitForRequest({ key }, 20_000);

  const [repeat, conflict] = await Promise.all([
    agent.submit('effects.late', { ref: agent.runId }, { stepId: 's1' }),
    agent.submit('effects.late', { ref: 'other' }, { stepId: 's1' }),
  ]);
  expect(repeat).toMatchObject({ intentId, status: 'dispatching', outcome: 'undecided', replayed: true, error: null });
  expect(conflict.error).toMatchObject({ code: 'idempotency_conflict', details: { intentId } });
  expect(await stack.settled(intentId)).toBe('committed');
  expect([stack.requests(key).length, stack.effects(key).length]).toEqual([1, 1]);
});

test('submits of one step in the same moment, through two replicas, are one intent and one effect (S30)', async () => {
  const agent = await stack.agent();
  const rounds = Array.from({ length: 8 }, (_, round) =>
    Promise.all(
      Array.from({ length: 6 }, () =>
        agent.submit('effects.searched', { ref: 's30' }, { stepId: `s${round}`, wait: '20s' }),
      ),
    ),
  );
  for (const results of await Promise.all(rounds)) {
    expect(new Set(results.map((result) => result.intentId)).size).toBe(1);
    expect(results.filter((result) => !result.replayed)).toHaveLength(1);
    expect(results.every((result) => result.status === 'committed')).toBe(true);
    const key = await stack.keyOf(results[0]?.intentId ?? '');
    expect([stack.requests(key).length, stack.effects(key).length]).toEqual([1, 1]);
  }
});

test('fields that only the runtime may set are dropped, recorded without their values, and replaced by the session', async () => {
  const agent = await stack.agent({ user: 'grace' });
  const forged = {
    user_id: 'mallory-the-admin',
    'Idempotency-Key': 'key-of-the-model',
    tenantId: { deep: 'other-tenant' },
  };
  const result = await agent.submit('effects.keyed', { ref: agent.runId, ...forged }, { stepId: 's1', wait: '20s' });
  expect(result.status).toBe('committed');

  const { proposal } = await load(result.intentId);
  expect(proposal.args).toEqual({ ref: agent.runId });
  expect(proposal.dropped).toEqual([
    { pointer: '/user_id', type: 'string' },
    { pointer: '/Idempotency-Key', type: 'string' },
    { pointer: '/tenantId', type: 'object' },
  ]);
  expect(JSON.stringify(await stack.store.intents.history(result.intentId))).not.toMatch(
    /mallory|key-of-the-model|other-tenant/,
  );

  const [request] = stack.requests(proposal.key);
  const sent = JSON.stringify({ agent_user: 'grace', ref: agent.runId, tenant_id: 'acme' });
  expect(request?.argsHash).toBe(createHash('sha256').update(sent).digest('hex'));
  // The same call without the forged fields is the same call.
  const plain = await agent.submit('effects.keyed', { ref: agent.runId }, { stepId: 's1' });
  expect(plain).toMatchObject({ intentId: result.intentId, replayed: true });
});

// Three leases have to end and four processes to start, so it takes its time on a busy machine.
test('a dispatcher killed three times between the answer and its record leaves one effect (S09)', async () => {
  await stopDispatchers();
  const agent = await stack.agent();
  const { intentId } = await agent.submit('effects.busy', { ref: 's09' }, { stepId: 's1' });
  const key = await stack.keyOf(intentId);

  for (let crash = 1; crash <= 3; crash += 1) {
    const dispatcher = await stack.launch('dispatcher', 'dispatcher.after_answer:1:kill');
    expect(await dispatcher.ended).toBe('SIGKILL');
    expect(stack.requests(key)).toHaveLength(crash);
    expect(stack.effects(key)).toHaveLength(1);
    expect((await load(intentId)).state).toBe('dispatching');
  }
  await stack.launch('dispatcher');
  expect(await stack.settled(intentId)).toBe('committed');

  expect(stack.effects(key)).toHaveLength(1);
  expect(new Set(stack.requests(key).map((request) => request.attemptId)).size).toBe(4);
  expect((await load(intentId)).attempts.map((attempt) => attempt.cause)).toEqual([
    ...Array(3).fill('lease_expired'),
    null,
  ]);
}, 60_000);

test('in the end log, read model and ledger agree', async () => {
  expect(await audit(stack)).toEqual([]);
});
