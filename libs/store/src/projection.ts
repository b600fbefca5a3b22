import {
  approvalEnds,
  holdingsOf,
  type In,
  type Intent,
  isComplete,
  isHeld,
  mayHaveRun,
  needsReview,
  newestOf,
  wantsPreview,
} from '@intendant/intent';

/** The columns of the read model that follow from the state. Times are ms since the epoch. */
export interface IntentColumns {
  readonly state: Intent['state'];
  readonly version: number;
  readonly attempts: number;
  /** Why it is where it is, in a word, for lists. */
  readonly reason: string | null;
  readonly leaseUntil: number | null;
  readonly wakeAt: number | null;
  readonly expiresAt: number;
  /** When the present state was entered. */
  readonly since: number;
  /** What it takes of the budgets of its run. */
  readonly calls: number;
  readonly cost: number;
  /** It has happened, or may have, or still may. */
  readonly held: boolean;
  /** The operation that it keeps others from; null: none. */
  readonly operation: string | null;
}

/** An authorized intent that no dispatcher picked up for this long is announced again. */
export const announceAgainMs = 5_000;

export function project(intent: Intent): IntentColumns {
  const { version, since } = intent;
  const expiresAt = authorityEnds(intent);
  const { calls, cost } = holdingsOf(intent);
  const held = isHeld(intent);
  return {
    state: intent.state,
    version,
    attempts: intent.attempts.length,
    reason: reasonOf(intent),
    leaseUntil: intent.state === 'dispatching' ? intent.attempt.leaseUntil : null,
    wakeAt: wakeAt(intent),
    expiresAt,
    since,
    calls,
    cost,
    held,
    operation: held ? (intent.proposal.operation?.digest ?? null) : null,
  };
}

/** End of the time in which it may be sent: that of its run, or that of its approval until something may have happened. */
function authorityEnds(intent: Intent): number {
  const isWaiting = intent.state === 'awaiting_approval' || intent.state === 'authorized';
  const ends = isWaiting && !mayHaveRun(intent.attempts) ? approvalEnds(intent) : null;
  return Math.min(intent.expiresAt, ends ?? intent.expiresAt);
}

/**
 * Of those that wait for people: its preview is wanted, or it was agreed to as it is for some dispatchers, and was not for
 * the one that looked at it last.
 */
export function isForDispatchers({ approvals }: In<'awaiting_approval'>): boolean {
  return wantsPreview(newestOf(approvals)) || approvals.requests.some((request) => isComplete(approvals, request));
}

function wakeAt(intent: Intent): number | null {
  switch (intent.state) {
    case 'awaiting_approval':
      return isForDispatchers(intent)
        ? Math.min(intent.since + announceAgainMs, authorityEnds(intent))
        : authorityEnds(intent);
    case 'authorized':
      return Math.min(intent.notBefore ?? intent.since + announceAgainMs, authorityEnds(intent));
    case 'dispatching':
      return intent.attempt.leaseUntil;
    case 'accepted':
    case 'unknown':
      return intent.dueAt;
    case 'pending':
      return intent.since;
    case 'committed':
      return needsReview(intent) ? intent.since + intent.proposal.terms.settleMs : null;
    case 'dead_lettered':
    case 'failed':
    case 'denied':
    case 'cancelled':
    case 'expired':
      return null;
  }
}

function reasonOf(intent: Intent): string | null {
  switch (intent.state) {
    case 'unknown':
      return intent.cause;
    case 'dead_lettered':
      return intent.reason;
    case 'failed':
    case 'denied':
      return intent.failure.code;
    case 'cancelled':
      return `by ${intent.by}`;
    case 'committed':
      return intent.proof;
    case 'awaiting_approval':
      return intent.approvals.differs.length > 0 ? 'differs' : (newestOf(intent.approvals).demands[0]?.rule ?? null);
    case 'authorized':
      return intent.basis;
    case 'pending':
    case 'dispatching':
    case 'accepted':
    case 'expired':
      return null;
  }
}
