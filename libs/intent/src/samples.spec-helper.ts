import type { ApprovalRequest, Approver } from './approval.js';
import type { Command } from './commands.js';
import type { Basis, IntentEvent, Proposal } from './events.js';
import type { Json } from './json.js';
import type { Effect, Guarantee, Terms } from './terms.js';
import type { LookupAnswer, Verdict } from './verdict.js';

/** Round numbers to count with: lease 10 s, settle 30 s, spacing 5 s, key kept 1 h, deadline 10 min. */
export const keyed: Terms = {
  effect: 'destructive',
  guarantee: 'idempotency_key',
  lookup: 'authoritative',
  maxAttempts: 3,
  leaseMs: 10_000,
  settleMs: 30_000,
  spacingMs: 5_000,
  retentionMs: 3_600_000,
  deadlineMs: 600_000,
  backoffMs: 1_000,
};
export const keyedWithoutProof: Terms = { ...keyed, lookup: 'presence_only' };
export const keyedWithoutLookup: Terms = { ...keyed, lookup: 'none' };
export const lookupOnly: Terms = { ...keyed, guarantee: 'lookup', retentionMs: 0 };
export const noGuarantee: Terms = { ...keyed, guarantee: 'none', lookup: 'none', retentionMs: 0 };
export const read: Terms = { ...noGuarantee, effect: 'read' };

export const effects: readonly Effect[] = ['read', 'write', 'destructive'];
export const guarantees: readonly Guarantee[] = ['idempotency_key', 'conditional_create', 'lookup', 'none'];

/** End of the run's authority in the samples. */
export const runEnd = 7_200_000;

export function proposal(terms: Terms = keyed, rest: Partial<Proposal> = {}): Proposal {
  return {
    intentId: '01JD0000000000000000000001',
    tenant: 'acme',
    runId: 'run_01JD0000000000000000000000',
    user: 'ann',
    stepId: 's1',
    tool: 'payments.refund.create',
    toolVersion: 1,
    contractDigest: 'c0ffee',
    args: { order_id: 'ord_1', amount_cents: 2499 },
    injected: { tenant_id: 'acme' },
    dropped: [],
    key: 'key-1',
    fingerprint: 'args-1',
    sandbox: false,
    terms,
    expiresAt: runEnd,
    traceparent: null,
    ...rest,
  };
}

export const recorded = (terms: Terms = keyed, rest: Partial<Proposal> = {}): IntentEvent => ({
  type: 'recorded',
  proposal: proposal(terms, rest),
});
export const authorized = (
  basis: Basis = 'admitted',
  notBefore: number | null = null,
  resendUntil: number | null = null,
): IntentEvent => ({ type: 'authorized', basis, notBefore, resendUntil });
export const started = (attempt: number, leaseUntil: number): IntentEvent => ({
  type: 'attempt_started',
  attempt,
  attemptId: `try-${attempt}`,
  leaseUntil,
});

export const record = (terms: Terms = keyed, rest: Partial<Proposal> = {}): Command => ({
  type: 'record',
  proposal: proposal(terms, rest),
  ruling: { allow: true },
});
export const start = (attempt: number): Command => ({ type: 'start_attempt', attemptId: `try-${attempt}` });
export const verdict = (attempt: number, is: Verdict): Command => ({
  type: 'record_verdict',
  attemptId: `try-${attempt}`,
  verdict: is,
  jitter: 0,
});
export const leaseEnds: Command = { type: 'expire_lease', jitter: 0 };
/** Answered at once, unless it is said when. */
export const lookup = (answer: LookupAnswer, askedAt: number, answeredAt = askedAt): Command => ({
  type: 'record_lookup',
  answer,
  askedAt,
  answeredAt,
});
export const replay: Command = { type: 'replay', by: 'olga', reason: 'upstream is back' };
export const cancel: Command = { type: 'cancel', by: 'ann' };
export const expire: Command = { type: 'expire' };
export const resolve = (outcome: 'executed' | 'not_executed'): Command => ({
  type: 'resolve',
  by: 'olga',
  outcome,
  externalId: outcome === 'executed' ? 're_9' : null,
  evidence: 'looked into the ledger',
});

export const executed = (data: Json = { refund_id: 're_9' }): Verdict => ({ kind: 'executed', data });
export const refused = (
  cause: string,
  transient = false,
  retryAfterMs: number | null = null,
): Extract<Verdict, { kind: 'not_executed' }> => ({
  kind: 'not_executed',
  cause,
  transient,
  retryAfterMs,
  detail: 'refused',
});
export const accepted202: Verdict = { kind: 'accepted', data: { job: 'j1' } };
export const silence: Verdict = { kind: 'unknown', cause: 'call_timeout', detail: 'no answer within 8 s' };
export const present = (data: Json = { refund_id: 're_9' }): LookupAnswer => ({ kind: 'present', data });
export const absent: LookupAnswer = { kind: 'absent' };
export const cannotTell: LookupAnswer = { kind: 'cannot_tell', detail: 'http_503' };

/** When the approvals of the samples expire. */
export const askedUntil = 3_600_000;
/** What people are asked, by its digest. */
export const request = (digest = 'd1', rest: Partial<ApprovalRequest> = {}): ApprovalRequest => ({
  nonce: `nonce of ${digest}`,
  digest,
  toolFile: 'f1',
  policy: 'p1',
  demands: [{ rule: 'approval', message: 'payments.refund.create always needs the approval of a person.' }],
  view: 'Refund 2499 cents of ord_1',
  impact: null,
  reversible: false,
  undo: null,
  redact: [],
  quorum: 1,
  roles: [],
  groups: [],
  selfApproval: false,
  expiresAt: askedUntil,
  remember: 'run',
  alike: null,
  preview: null,
  ...rest,
});
export const approver = (name: string, rest: Partial<Approver> = {}): Approver => ({
  name,
  roles: ['approver'],
  groups: [],
  ...rest,
});
export const approve = (by: Approver | string, digest = 'd1'): Command => ({
  type: 'approve',
  approver: typeof by === 'string' ? approver(by) : by,
  digest,
});
export const refuse = (by: Approver | string, digest: string | null = null, reason = 'not this one'): Command => ({
  type: 'refuse',
  approver: typeof by === 'string' ? approver(by) : by,
  digest,
  reason,
});
export const withdraw = (by: string): Command => ({ type: 'withdraw', by });
/** A start of somebody who has looked at the intent in that version and found these requests to be about what it would send. */
export const startVerified = (
  attempt: number,
  version: number,
  matching: readonly string[],
  renewed: ApprovalRequest | null = null,
): Command => ({
  type: 'start_attempt',
  attemptId: `try-${attempt}`,
  verified: { version, matching, differs: renewed ? ['the policy files'] : [], renewed },
});
