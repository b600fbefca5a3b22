import type { Proposal, Terms } from '@intendant/intent';
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
