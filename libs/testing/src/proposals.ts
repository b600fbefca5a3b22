import type { ApprovalRequest, Proposal, Terms } from '@intendant/intent';
import { ulid } from 'ulid';

export const quickTerms: Terms = {
  effect: 'destructive',
  guarantee: 'idempotency_key',
  lookup: 'authoritative',
  maxAttempts: 3,
  leaseMs: 5_000,
  settleMs: 1_000,
  spacingMs: 500,
  retentionMs: 86_400_000,
  deadlineMs: 60_000,
  backoffMs: 100,
};

/** A valid proposal with fresh ids; `over` replaces what the test is about. */
export function proposal(over: Partial<Proposal> = {}): Proposal {
  const intentId = ulid();
  return {
    intentId,
    tenant: 'acme',
    runId: `run_${ulid()}`,
    user: 'ada',
    stepId: 's1',
    tool: 'payments.refund.create',
    toolVersion: 1,
    contractDigest: 'digest',
    args: { order_id: 'ord_1', amount_cents: 2499 },
    injected: {},
    dropped: [],
    key: `key-${intentId}`,
    fingerprint: 'fingerprint',
    sandbox: false,
    terms: quickTerms,
    expiresAt: Date.now() + 3_600_000,
    traceparent: null,
    ...over,
  };
}

/** What one person is asked, whoever that is. */
export function approvalRequest(over: Partial<ApprovalRequest> = {}): ApprovalRequest {
  return {
    nonce: ulid(),
    digest: ulid(),
    toolFile: 'tool-file',
    policy: 'policy',
    demands: [{ rule: 'approval', message: 'It always needs the approval of a person.' }],
    view: 'Refund 2499 cents of ord_1',
    impact: null,
    reversible: null,
    undo: null,
    redact: [],
    quorum: 1,
    roles: [],
    groups: [],
    selfApproval: false,
    expiresAt: Date.now() + 3_600_000,
    remember: 'run',
    alike: null,
    preview: null,
    ...over,
  };
}
