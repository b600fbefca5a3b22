import type { ErrorObject, IntentResult } from '@intendant/contracts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Person, Stack } from './stack.js';

interface Card {
  readonly id: string;
  readonly digest: string;
  readonly status: string;
  readonly [field: string]: unknown;
}
type Decided = IntentResult & { readonly error: ErrorObject | null };

let stack: Stack;
beforeAll(async () => {
  stack = await Stack.start({
    services: ['gateway', 'gateway', 'policy', 'policy', 'outbox-relay', 'dispatcher', 'dispatcher', 'reconciler'],
  });
});
afterAll(() => stack?.stop());

const cardOf = async (id: string, person: Person = 'erin') =>
  (await stack.person(person).get<Card>(`/v1/approvals/${id}`)).body;
const approve = (id: string, digest: string, person: Person = 'erin') =>
  stack.person(person).post<Decided>(`/v1/approvals/${id}/approve`, { digest });
const refuse = (id: string, reason: string, person: Person = 'erin') =>
  stack.person(person).post<Decided>(`/v1/approvals/${id}/refuse`, { reason });
const effectsOf = async (id: string) => stack.effects(await stack.keyOf(id)).length;

describe('what needs a person', () => {
  test('waits, tells the agent for what, and happens once when it is agreed to', async () => {
    const agent = await stack.agent();
    const args = { ref: 'order 1', amount: 7, secret: 'pin 1234' };
    const asked = await agent.submit('effects.approved', args, { stepId: 's1' });
    expect(asked).toMatchObject({ status: 'awaiting_approval', outcome: 'undecided', error: null });
    expect(asked.summary).toMatch(/waits for the approval of a person, until .* Do not call it again/);
    const card = await cardOf(asked.intentId);
    expect(card).toMatchObject({
      ...{ status: 'awaiting_approval', requester: 'ada', effect: 'write', reversible: true, quorum: 1, given: [] },
      view: 'Make "order 1" an effect of 7 for ada',
      impact: 'One effect of 7',
      undo: 'delete the effect by hand',
      args: { ref: 'order 1', amount: 7, secret: '(redacted)' },
      injected: { tenant_id: 'acme', agent_user: 'ada' },
      why: [{ rule: 'approval', message: 'effects.approved always needs the approval of a person.' }],
    });
    expect(JSON.stringify(card)).not.toContain('1234');
    const waiting = agent.submit('effects.approved', args, { stepId: 's1', wait: '20s' });
    const given = await approve(asked.intentId, card.digest);
    expect(given.status).toBe(200);
    expect(await waiting).toMatchObject({ status: 'committed', outcome: 'executed', replayed: true });
    expect(await effectsOf(asked.intentId)).toBe(1);
    const again = await approve(asked.intentId, card.digest, 'frank');
    expect([again.status, again.body.status]).toEqual([200, 'committed']);
  });

  test('does not happen when it is refused, and is not asked about again in other words', async () => {
    const agent = await stack.agent();
    const asked = await agent.submit('effects.approved', { ref: 'Order two' }, { stepId: 's1' });
    expect((await refuse(asked.intentId, 'the customer was refunded already')).status).toBe(200);
    const told = await agent.submit('effects.approved', { ref: 'Order two' }, { stepId: 's1' });
    expect(told).toMatchObject({ status: 'denied', error: { code: 'approval_refused' } });
    expect(told.error?.message).toContain('erin refused effects.approved: the customer was refunded already.');
    const reworded = await agent.submit('effects.approved', { ref: ' order  TWO. ' }, { stepId: 's2' });
    expect(reworded).toMatchObject({ status: 'denied', error: { code: 'denied_before' } });
    expect(reworded.error?.message).toContain('the customer was refunded already');
    expect(stack.requests(await stack.keyOf(asked.intentId))).toEqual([]);
  });
});
