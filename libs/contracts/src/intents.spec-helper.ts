import type { ApprovalRequest, Attempt, Correction, Intent, Proposal, StateName } from '@intendant/intent';

const terms: Proposal['terms'] = {
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

const proposal: Proposal = {
  intentId: '01J9Z3M5V6W7X8Y9Z0A1B2C3D4',
  tenant: 'acme',
  runId: 'run_01J9Z3M5V6W7X8Y9Z0A1B2C3D4',
  user: 'ada',
  stepId: 's1',
  tool: 'payments.refund.create',
  toolVersion: 1,
  contractDigest: 'digest',
  args: {},
  injected: { user_id: 'ada' },
  dropped: [],
  key: 'the key',
  fingerprint: 'f',
  sandbox: false,
  terms,
  expiresAt: 1,
  traceparent: null,
};

export const attempt = (verdict: Attempt['verdict']): Attempt => ({
  number: 1,
  attemptId: 'a1',
  startedAt: 1,
  leaseUntil: 2,
  verdict,
  cause: null,
  sent: true,
});
export const executedAfterAll: Correction = { attempt: 1, finding: 'executed', data: null, breach: null };

const approvalRequest: ApprovalRequest = {
  nonce: 'n1',
  digest: 'd1',
  toolFile: 'f1',
  policy: 'p1',
  demands: [{ rule: 'approval', message: 'payments.refund.create always needs a person.' }],
  view: 'Refund 2499 cents of ord_1',
  impact: null,
  reversible: false,
  undo: null,
  redact: [],
  quorum: 2,
  roles: [],
  groups: [],
  selfApproval: false,
  expiresAt: Date.parse('2026-01-01T10:00:00Z'),
  remember: 'run',
  alike: null,
  preview: null,
};

type CoreChanges = Partial<Pick<Intent, 'attempts' | 'cancelledBy' | 'corrections' | 'version'>> & {
  proposal?: Partial<Proposal>;
};

const variants = {
  pending: { state: 'pending' },
  awaiting_approval: {
    state: 'awaiting_approval',
    ...{ basis: 'approved', notBefore: null, resendUntil: null },
    approvals: { requests: [approvalRequest], given: [{ by: 'olga', digest: 'd1', at: 1 }], differs: [] },
  },
  authorized: { state: 'authorized', basis: 'admitted', notBefore: null, resendUntil: null },
  dispatching: { state: 'dispatching', attempt: attempt('open') },
  accepted: { state: 'accepted', data: null, dueAt: 1, deadline: 2, asked: 0 },
  unknown: {
    state: 'unknown',
    cause: 'http_502',
    detail: 'bad gateway',
    absences: 0,
    absentAt: null,
    asked: 0,
    settleAt: 1,
    dueAt: 1,
    deadline: 2,
  },
  dead_lettered: { state: 'dead_lettered', reason: 'no_way_to_tell', detail: 'no lookup' },
  committed: { state: 'committed', proof: 'response', data: { refund_id: 're_9' }, reviewed: false },
  failed: {
    state: 'failed',
    failure: { code: 'upstream_unavailable', message: 'Nothing happened; try later.', details: { cause: 'http_503' } },
  },
  denied: { state: 'denied', failure: { code: 'permission_denied', message: 'Not allowed.', details: {} } },
  cancelled: { state: 'cancelled', by: 'ada' },
  expired: { state: 'expired' },
} as const;

/** An intent in any state; `own` replaces fields of that state. */
export function intentIn(state: StateName, { proposal: changes, ...core }: CoreChanges = {}, own: object = {}): Intent {
  return {
    proposal: { ...proposal, ...changes },
    version: 4,
    recordedAt: 1,
    since: 1,
    attempts: state === 'dead_lettered' ? [attempt('unknown')] : [],
    maxAttempts: 3,
    expiresAt: 1,
    corrections: [],
    cancelledBy: null,
    approvals: null,
    ...core,
    ...variants[state],
    ...own,
  } as Intent;
}
