import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { IntentResult } from '@intendant/contracts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from './eventually.js';
import { Stack } from './stack.js';

interface Card {
  readonly id: string;
  readonly digest: string;
  readonly preview: { readonly kind: string; readonly [field: string]: unknown } | null;
}

const here = path.dirname(fileURLToPath(import.meta.url));
let stack: Stack;
beforeAll(async () => {
  stack = await Stack.start({
    services: ['gateway', 'policy', 'outbox-relay', 'dispatcher', 'dispatcher', 'reconciler'],
    toolsDir: path.join(here, 'tools-preview'),
  });
});
afterAll(() => stack?.stop());

const erin = () => stack.person('erin');
const approve = ({ id, digest }: Card) => erin().post<IntentResult>(`/v1/approvals/${id}/approve`, { digest });
const effectsOf = async (id: string) => stack.effects(await stack.keyOf(id)).length;

/** The card of a new refund, once the upstream has said what it would change. */
async function asked(tool: string, order: string, cents: number): Promise<{ first: Card; card: Card; id: string }> {
  const agent = await stack.agent();
  const { intentId: id, status } = await agent.submit(tool, { order_id: order, amount_cents: cents });
  expect(status).toBe('awaiting_approval');
  const first = (await erin().get<Card>(`/v1/approvals/${id}`)).body;
  const card = await eventually('the preview is there', async () => {
    const { body } = await erin().get<Card>(`/v1/approvals/${id}`);
    return body.preview?.kind === 'asked' ? undefined : body;
  });
  return { first, card, id };
}

async function refunded(order: string, cents: number): Promise<void> {
  const answer = await fetch(`${stack.upstream.url}/refunds`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': `${order}-${cents}` },
    body: JSON.stringify({ order_id: order, amount_cents: cents }),
  });
  expect(answer.ok).toBe(true);
}

describe.each([
  ['payments.refund.conditional', 'by_upstream'],
  ['payments.refund.reread', 'read_again'],
])('a preview of %s', (tool, kept) => {
  const orderOf = (name: string) => `ord_${kept.replace('_', '')}${name}`;

  test('is on the card before anybody can agree, and the call goes where it still holds', async () => {
    const order = orderOf('A');
    const { card, id } = await asked(tool, order, 700);
    expect(card.preview).toMatchObject({
      ...{ kind: 'shown', kept },
      before: { refunded_cents: 0 },
      after: { refunded_cents: 700 },
    });
    expect((await approve(card)).status).toBe(200);
    expect(await stack.settled(id)).toBe('committed');
    expect(await effectsOf(id)).toBe(1);
  });

  test('that is no longer true when the call is made lets nothing happen, and the agent is told why', async () => {
    const order = orderOf('B');
    const { card, id } = await asked(tool, order, 300);
    await refunded(order, 100);
    await approve(card);
    expect(await stack.settled(id)).toBe('failed');
    expect(await effectsOf(id)).toBe(0);
    const intent = await stack.store.intents.load(id);
    expect(intent).toMatchObject({ failure: { details: { cause: 'state_changed' } } });
    expect(JSON.stringify(intent)).toContain('is not what is there any more. Nothing happened.');
  });

  test('changes the digest: what was seen without it approves nothing', async () => {
    const { first, card, id } = await asked(tool, orderOf('C'), 400);
    const early = first.preview?.kind === 'asked' ? await approve(first) : { status: 409 };
    expect(early.status).toBe(409);
    expect(card.digest === first.digest).toBe(first.preview?.kind !== 'asked');
    expect(await effectsOf(id)).toBe(0);
  });
});

test('that fails is asked for again, and nobody can agree before it is there, since the call is tied to it', async () => {
  // Both dispatchers may ask, and a read on a connection that was used before is tried once more.
  stack.upstream.behave({ match: { path: '/refunds/preview' }, times: 4, behaviour: { then: 'reset' } });
  const { card, id } = await asked('payments.refund.conditional', 'ord_D', 500);
  expect(card.preview).toMatchObject({
    ...{ kind: 'failed', needed: true },
    detail: expect.stringMatching(/reset|socket/i),
  });
  expect((await approve(card)).status).toBe(409);
  const later = await eventually(
    'the preview is there',
    async () => {
      const { body } = await erin().get<Card>(`/v1/approvals/${id}`);
      return body.preview?.kind === 'shown' ? body : undefined;
    },
    60_000,
  );
  expect((await approve(later)).status).toBe(200);
  expect(await stack.settled(id)).toBe('committed');
  expect(await effectsOf(id)).toBe(1);
}, 90_000);
