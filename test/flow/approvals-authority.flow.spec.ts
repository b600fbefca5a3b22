import type { ErrorObject } from '@intendant/contracts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { never, once, onTheWire, People } from './approvals-people.js';
import { Operator } from './clients.js';
import { keyOf, operatorKey, Stack, serviceKey } from './stack.js';

let stack: Stack;
let people: People;
let id: string;
let digest: string;
let token: string;

beforeAll(async () => {
  stack = await Stack.start({ services: ['gateway', 'policy', 'outbox-relay', 'dispatcher', 'reconciler'] });
  people = new People(stack);
  const agent = await stack.agent();
  token = agent.token;
  id = (await agent.submit('effects.dual', { ref: 'nobody may' }, { stepId: 's1' })).intentId;
  digest = (await people.card(id)).digest;
});
afterAll(() => stack?.stop());

const log = async () => JSON.stringify(await stack.store.intents.history(id));

/** Every decision that there is, by one credential; the event log is the same before and after. */
async function changesNothing(credential: string, statuses: Readonly<Record<string, number>>, seen = digest) {
  const before = await log();
  const whoever = new Operator(() => stack.url, credential);
  const path = `/v1/approvals/${id}`;
  const answers = {
    approve: await whoever.post<{ error?: ErrorObject }>(`${path}/approve`, { digest: seen }),
    refuse: await whoever.post(`${path}/refuse`, { reason: 'no', digest: seen }),
    withdraw: await whoever.post(`${path}/withdraw`),
    decide: await whoever.post<{ results?: { error?: ErrorObject }[] }>('/v1/approvals/decide', {
      decisions: [{ id, decision: 'approve', digest: seen }],
    }),
  };
  const { approve, refuse, withdraw, decide } = answers;
  expect({ approve: approve.status, refuse: refuse.status, withdraw: withdraw.status }).toEqual(statuses);
  if (decide.status === 200) expect(decide.body.results?.[0]?.error).toBeTruthy();
  else expect(decide.status).toBe(approve.status);
  expect(await log()).toBe(before);
  expect(await onTheWire(stack, id)).toEqual(never);
}

const all = (status: number) => ({ approve: status, refuse: status, withdraw: status });

describe('a decision changes nothing that is made', () => {
  test('with the token of the run (T7)', () => changesNothing(token, all(403)));
  test('with the key of a service (T7)', () => changesNothing(serviceKey, all(403)));
  test('with a key that nobody knows (T7)', () => changesNothing('nobody', all(401)));
  test('without any key (T7)', async () => {
    const before = await log();
    const { status } = await fetch(`${stack.url}/v1/approvals/${id}/approve`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ digest }),
    });
    expect(status).toBe(401);
    expect(await log()).toBe(before);
  });
  test('by an operator who is no approver (T7)', () => changesNothing(operatorKey, all(403)));
  test('by a viewer (T7)', () => changesNothing(keyOf('vera'), all(403)));
  test('by an approver of another group (T7)', () =>
    changesNothing(keyOf('gina'), { approve: 403, refuse: 403, withdraw: 409 }));
  test('by whoever the run acts for, except a no (T7)', async () => {
    const before = await log();
    const answer = await stack.person('ada').post<unknown>(`/v1/approvals/${id}/approve`, { digest });
    expect(answer.status).toBe(403);
    expect(await log()).toBe(before);
  });
  test('about what was asked before something changed (T7)', () =>
    changesNothing(keyOf('erin'), { approve: 409, refuse: 409, withdraw: 409 }, `00000000.${'x'.repeat(43)}`));
  test('a second time by the same person (T7)', async () => {
    expect((await people.approve(id, 'erin')).status).toBe(200);
    const before = await log();
    const again = await people.approve(id, 'erin', digest);
    expect([again.status, again.body.status]).toEqual([200, 'awaiting_approval']);
    expect(await log()).toBe(before);
    expect(await onTheWire(stack, id)).toEqual(never);
  });
  test('after all have agreed and it was done (T7)', async () => {
    expect((await people.approve(id, 'frank', digest)).status).toBe(200);
    expect(await stack.settled(id)).toBe('committed');
    const before = await log();
    expect((await people.approve(id, 'frank', digest)).status).toBe(200);
    expect((await people.refuse(id, 'erin')).status).toBe(409);
    expect((await people.withdraw(id, 'erin')).status).toBe(409);
    expect(await log()).toBe(before);
    expect(await onTheWire(stack, id)).toEqual(once);
  });
});

describe('an approver of another tenant', () => {
  test('is told that there is no such intent, and changes nothing (T7)', async () => {
    const agent = await stack.agent({ tenant: 'globex' });
    const { intentId } = await agent.submit('effects.approved', { ref: 'of globex' }, { stepId: 's1' });
    const history = async () => JSON.stringify(await stack.store.intents.history(intentId));
    const before = await history();
    const [{ status }, refused] = [
      await people.approve(intentId, 'erin', digest),
      await people.refuse(intentId, 'erin'),
    ];
    expect([status, refused.status]).toEqual([404, 404]);
    expect(await history()).toBe(before);
  });
});

describe('what a person has refused', () => {
  const cosmetic: readonly object[] = [
    { ref: ' Pay   ACME. ', amount: 5 },
    { amount: 5, ref: 'pay acme' },
    { ref: 'pay\u200b acme', amount: 5 },
    { ref: 'ｐａｙ acme', amount: 5, secret: '' },
  ];

  test('is answered from the refusal when it is asked for in other words, and nobody is asked again (T10)', async () => {
    const agent = await stack.agent();
    const first = await agent.submit('effects.approved', { ref: 'Pay acme', amount: 5 }, { stepId: 's0' });
    await people.refuse(first.intentId, 'erin', 'acme was paid last week');
    for (const [i, args] of cosmetic.entries()) {
      const again = await agent.submit('effects.approved', args, { stepId: `again-${i}` });
      expect(again, JSON.stringify(args)).toMatchObject({ status: 'denied', error: { code: 'denied_before' } });
      expect(again.error?.message).toContain('acme was paid last week');
      expect(await onTheWire(stack, again.intentId)).toEqual(never);
    }
    const other = await agent.submit('effects.approved', { ref: 'Pay acme', amount: 6 }, { stepId: 'other' });
    expect(other.status).toBe('awaiting_approval');
  });
});
