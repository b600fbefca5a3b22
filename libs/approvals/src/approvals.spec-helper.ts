import { type ApprovalRules, defaultApproval, type ToolDefinition } from '@intendant/contracts';
import type { ApprovalRequest, Approvals, Proposal } from '@intendant/intent';
import { proposal as someProposal, toolAt } from '@intendant/testing';

const approval: ApprovalRules = {
  ...defaultApproval,
  ...{ required: true, quorum: 2, view: 'Refund {{amount_cents}} of {{order_id}} to {{user_id}}', undo: 'Charge it.' },
  ...{
    impact: 'Money of {{user_id}}',
    roles: ['operator'],
    groups: ['payments'],
    redact: ['/card'],
    remember: 'tenant',
  },
};

export const tool = (changes: Partial<ToolDefinition> = {}, rules: Partial<ApprovalRules> = {}): ToolDefinition =>
  toolAt('http://127.0.0.1:1', {
    tool: { name: 'payments.refund.create', reversible: true, approval: { ...approval, ...rules }, ...changes },
  });

/** Every field of a proposal has a value. */
export const proposal: Required<Proposal> = {
  ...someProposal({
    injected: { user_id: 'ada' },
    traceparent: '00-1-2-01',
    dropped: [{ pointer: '/user_id', type: 'x' }],
  }),
  ...{ cost: 1, operation: { digest: 'op', windowMs: 1 }, likeness: 'like', phase: 'triage', taintedBy: 'i0' },
  ...{ gist: 'gist', grant: 'grant' },
};

export const question = {
  proposal,
  tool: tool(),
  policy: 'policy-1',
  demands: [{ rule: 'approval', message: 'It always needs a person.' }],
  expiresAt: 1_000,
  alike: 'i1',
  nonce: 'nonce-1',
};

export const askedFor = (first: ApprovalRequest, ...others: ApprovalRequest[]): Approvals => ({
  requests: [first, ...others],
  given: [],
  differs: [],
});
