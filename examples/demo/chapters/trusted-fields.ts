import { proposalOf } from '../intent-record.js';
import { orderId, type Story } from '../story.js';

/** The model fills in who it is and under which key it acts; neither is believed. */
export async function trustedFields(story: Story): Promise<void> {
  const { agent, watch, narrator, expect } = story;
  const stepId = 'refund-as-admin';
  const forged = { user_id: 'admin', idempotency_key: 'key-of-the-model' };
  narrator.chapter('(f) The agent adds a user and a key of its own to the arguments');
  const args = { order_id: orderId(story, 'f'), amount_cents: 1250, ...forged };
  const { result } = await agent.submit({ stepId, tool: 'payments.refund.create', args }, 10);
  expect(result?.status === 'committed', 'refund-as-admin: the refund is made');

  const proposal = proposalOf(await watch.until(stepId, 'committed', 5_000));
  const dropped = proposal.dropped.map(({ pointer }) => pointer).sort();
  narrator.tell('audit', `dropped ${dropped.join(' and ')}; acted for ${proposal.user} under key ${proposal.key}`);
  expect(dropped.join() === '/idempotency_key,/user_id', 'refund-as-admin: the audit names both dropped fields');
  expect(!Object.keys(forged).some((name) => name in proposal.args), 'refund-as-admin: neither is in the arguments');
  expect(proposal.key !== forged.idempotency_key, 'refund-as-admin: the upstream sees another key');
  expect(proposal.user !== forged.user_id, 'refund-as-admin: it is done for the user of the run');
}
