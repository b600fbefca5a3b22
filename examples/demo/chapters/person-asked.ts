import type { ToolCall } from '../../agents/http/agent.js';
import { orderId, type Story } from '../story.js';

/** Large refunds wait for a person, who sees what would change and agrees to one of them; the other one is refused, and stays so. */
export async function personAsked(story: Story): Promise<void> {
  const { agent, operator, watch, narrator, mark, expect } = story;
  narrator.chapter('(g) Large refunds wait for a person, who agrees to one and refuses the other');
  const refund = (stepId: string, letter: string, cents: number): ToolCall => ({
    stepId,
    tool: 'payments.refund.create',
    args: { order_id: orderId(story, letter), amount_cents: cents },
  });
  const agreed = refund('refund-large', 'g', 64_900);
  const asked = await agent.submit(agreed);
  expect(asked.result?.status === 'awaiting_approval', 'refund-large: the agent is told that a person is asked');
  narrator.tell('agent', 'thinks: waiting is not for me, so once more');
  const again = await agent.submit(agreed);
  expect(again.result?.replayed === true, 'refund-large: asking again asks nobody again');

  const card = await operator.card(asked.result?.intentId ?? '');
  narrator.tell('operator', `sees: ${card.view}. ${card.impact} ${JSON.stringify(card.preview)}`);
  expect(card.preview?.kind === 'shown', 'refund-large: the upstream has said what would change');
  await operator.approve(card);
  narrator.tell('operator', 'agrees to exactly this');
  await watch.until(agreed.stepId, 'committed', 10_000);

  const unwanted = refund('refund-refused', 'h', 77_700);
  const second = await agent.submit(unwanted);
  await operator.refuse(second.result?.intentId ?? '', `the customer of ${mark} was refunded already`);
  await watch.until(unwanted.stepId, 'denied', 5_000);
  narrator.tell('agent', 'thinks: then I call it something else');
  const reworded = await agent.submit({ ...unwanted, stepId: 'refund-reworded' });
  expect(reworded.error?.code === 'denied_before', 'refund-reworded: it is answered from the refusal');
  await watch.until('refund-reworded', 'denied', 5_000);
}
