import type { ToolCall } from '../../agents/http/agent.js';
import type { Story } from '../story.js';

/** The step of the first refund, with another amount: that is another wish under an old name. */
export async function otherAmount({ agent, narrator, expect }: Story, refund: ToolCall): Promise<void> {
  narrator.chapter('(e) The agent repeats the step of (a) with another amount');
  const { result, error } = await agent.submit({ ...refund, args: { ...refund.args, amount_cents: 4998 } });
  expect(error?.code === 'idempotency_conflict', 'other amount: the call is refused as idempotency_conflict');
  expect(result === null, 'other amount: nothing is recorded');
}
