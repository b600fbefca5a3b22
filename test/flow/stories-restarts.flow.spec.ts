import { afterAll, beforeAll, expect, test } from 'vitest';
import { audit } from './audit.js';
import { Stack } from './stack.js';
import { eventsTold } from './told.js';
import { UpstreamCalls } from './upstream-calls.js';

let stack: Stack;
let calls: UpstreamCalls;
beforeAll(async () => {
  stack = await Stack.start({ services: ['policy', 'outbox-relay', 'reconciler'] });
  calls = new UpstreamCalls(stack);
});
afterAll(() => stack.stop());

// Three leases have to end and four processes to start.
test('an upstream slower than the step, whose word a dispatcher loses three times, acts once (S08)', async () => {
  const agent = await stack.agent();
  const operation = { afterMs: 9_000, end: 'done' } as const;
  const accepted = { then: 'accepted', operation } as const;
  stack.upstream.behave({ match: { bodyContains: agent.runId }, times: 'always', behaviour: accepted });
  const submit = (wait?: string) =>
    agent.submit('effects.queued', { ref: agent.runId }, { stepId: 's1', ...(wait && { wait }) });
  const { intentId } = await submit();
  const key = await stack.keyOf(intentId);

  for (let crash = 1; crash <= 3; crash += 1) {
    const dispatcher = await stack.launch('dispatcher', 'dispatcher.after_answer:1:kill');
    expect(await dispatcher.ended).toBe('SIGKILL');
    expect(stack.requests(key)).toHaveLength(crash);
    // The step gives up waiting and asks again; that is not another request.
    const asked = await submit();
    expect(asked).toMatchObject({ intentId, replayed: true });
    expect(['dispatching', 'unknown']).toContain(asked.status);
  }
  await stack.launch('dispatcher');
  expect(await submit('30s')).toMatchObject({ intentId, status: 'committed', outcome: 'executed' });

  const { attempts, proposal } = await calls.load(intentId);
  expect(attempts.map(({ cause }) => cause)).toEqual([...Array(3).fill('lease_expired'), null]);
  const requests = stack.requests(proposal.key);
  expect(requests.map(({ attemptId }) => attemptId)).toEqual(attempts.map(({ attemptId }) => attemptId));
  expect(stack.effects(proposal.key)).toHaveLength(1);
  expect(await calls.load(intentId)).toMatchObject({ proof: 'poll' });
  expect(await eventsTold(stack, intentId)).toEqual([...Array(3).fill('outcome_unknown'), 'committed']);
}, 90_000);

test('in the end log, read model and ledger agree', async () => {
  expect(await audit(stack)).toEqual([]);
});
