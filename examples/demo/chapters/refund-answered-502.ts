import type { ToolCall } from '../../agents/http/agent.js';
import type { Story } from '../story.js';

/** The refund happens, its answer is 502, and the agent asks for it three times more. Returns the call. */
export async function refundAnswered502(story: Story, order: string): Promise<ToolCall> {
  const { agent, upstream, watch, narrator, expect } = story;
  const stepId = 'refund';
  narrator.chapter('(a) The upstream refunds, then answers 502; the agent retries');
  await upstream.misbehave({ path: '/refunds', bodyContains: order, behaviour: { then: 'status:502' } });

  const refund: ToolCall = { stepId, tool: 'payments.refund.create', args: { order_id: order, amount_cents: 2499 } };
  const first = await agent.submit(refund);
  await watch.until(stepId, 'outcome_unknown', 10_000);
  narrator.tell('agent', 'thinks: no refund yet, so once more');
  const replies = [await agent.submit(refund), await agent.submit(refund, 10)];
  narrator.tell('agent', 'thinks: perhaps the amount has to come first');
  replies.push(await agent.submit({ ...refund, args: { amount_cents: 2499, order_id: order } }, 10));

  expect(first.result?.replayed === false, 'refund: the first call is a new intent');
  const sameIntent = replies.every(({ result }) => result?.replayed && result.intentId === first.result?.intentId);
  expect(sameIntent, 'refund: all three retries are answered from the first call');
  expect(replies.at(-1)?.result?.status === 'committed', 'refund: the last retry is told that it happened');
  await watch.until(stepId, 'committed', 10_000);
  return refund;
}
