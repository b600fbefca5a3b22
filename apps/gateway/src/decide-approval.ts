import { type IntentResult, resultOf } from '@intendant/contracts';
import type { OperatorIdentity } from '@intendant/credentials';
import type { Command, Intent } from '@intendant/intent';
import { faultPoint } from '@intendant/runtime';
import type { Store } from '@intendant/store';
import { approverOf } from './approval-card.js';
import { approvalExpired, intentAfter } from './command-answer.js';
import { visibleIntent } from './tenants.js';

export type ApprovalDecision =
  | { readonly decision: 'approve'; readonly id: string; readonly digest: string }
  | { readonly decision: 'refuse'; readonly id: string; readonly digest: string | null; readonly reason: string }
  | { readonly decision: 'withdraw'; readonly id: string };

/**
 * What an operator with the role `approver` decides about one intent, by whatever way it came. Said twice, it is so once.
 *
 * @throws Refusal where it is not theirs to decide, is not what they saw, or comes too late
 */
export async function decideApproval(
  store: Store,
  operator: OperatorIdentity,
  decided: ApprovalDecision,
): Promise<IntentResult> {
  const { id } = decided;
  await visibleIntent(store, { kind: 'operator', operator }, id);
  const result = await store.door.execute({ intentId: id, command: commandOf(operator, decided) });
  const intent = intentAfter(result);
  faultPoint('gateway.before_reply');
  if (hasExpired(intent)) throw approvalExpired(intent);
  return resultOf(intent, false);
}

function commandOf(operator: OperatorIdentity, decided: ApprovalDecision): Command {
  const approver = approverOf(operator);
  switch (decided.decision) {
    case 'approve':
      return { type: 'approve', approver, digest: decided.digest };
    case 'refuse':
      return { type: 'refuse', approver, digest: decided.digest, reason: decided.reason };
    case 'withdraw':
      return { type: 'withdraw', by: operator.name };
  }
}

function hasExpired(intent: Intent): boolean {
  return intent.state === 'denied' && intent.failure.code === 'approval_expired';
}
