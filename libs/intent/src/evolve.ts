import { asked, without } from './approval.js';
import type { IntentEvent } from './events.js';
import type { Json } from './json.js';
import { type Attempt, type Clearance, type Core, countedAttempts, type Intent } from './state.js';
import { nextState } from './transitions.js';

/** The log says something that cannot be: a bug or a damaged log, never a user's mistake. */
export class IllegalTransition extends Error {
  override readonly name = 'IllegalTransition';
}

/** The state after one more event; `at` is when it was recorded, in ms since the epoch on the database clock. */
export function evolve(intent: Intent | null, event: IntentEvent, at: number): Intent {
  const next = nextState(intent?.state ?? 'none', event.type);
  if (next === null) throw new IllegalTransition(`event ${event.type} in state ${intent?.state ?? 'none'}`);
  if (event.type === 'recorded') return begin(event, at);
  if (intent === null) throw new IllegalTransition(`event ${event.type} before recorded`);

  // The spread comes last: V8 takes thirty times as long for fields that follow one (docs/performance.md).
  const core = (attempts = intent.attempts) => coreOf(intent, at, attempts);
  const { attempts } = intent;
  switch (event.type) {
    case 'authorized': {
      const { basis, notBefore, resendUntil } = event;
      const cleared = basis === 'absent' ? clear(attempts) : attempts;
      return { state: 'authorized', basis, notBefore, resendUntil, ...core(cleared) };
    }
    case 'approval_requested': {
      const approvals = asked(intent.approvals, event.request, event.differs);
      return { state: 'awaiting_approval', ...clearanceOf(intent), ...core(), approvals };
    }
    case 'approved': {
      if (intent.approvals === null) throw new IllegalTransition('approved before it was asked');
      const given = [...intent.approvals.given, { by: event.by, digest: event.digest, at }];
      return { ...intent, version: intent.version + 1, approvals: { ...intent.approvals, given } } as Intent;
    }
    case 'approval_withdrawn': {
      if (intent.approvals === null) throw new IllegalTransition('approval_withdrawn before it was asked');
      const approvals = without(intent.approvals, event.by);
      return { state: 'awaiting_approval', ...clearanceOf(intent), ...core(), approvals };
    }
    case 'attempt_started': {
      const { attemptId, leaseUntil, approval } = event;
      const attempt: Attempt = {
        number: event.attempt,
        attemptId,
        startedAt: at,
        leaseUntil,
        verdict: 'open',
        cause: null,
        sent: true,
        ...(approval !== undefined && { approval }),
      };
      return { state: 'dispatching', attempt, ...core([...attempts, attempt]) };
    }
    case 'attempt_not_executed':
      return { state: 'pending', ...core(ruledOut(attempts, event.attempt, event.cause, event.sent !== false)) };
    case 'accepted': {
      const { data, dueAt, deadline } = event;
      return {
        state: 'accepted',
        data,
        dueAt,
        deadline,
        asked: 0,
        ...core(accept(attempts, event.attempt, data)),
      };
    }
    case 'outcome_unknown': {
      const { cause, detail, settleAt, dueAt, deadline } = event;
      const open = attempts.map((a) => (a.verdict === 'open' ? { ...a, verdict: 'unknown' as const, cause } : a));
      return { state: 'unknown', cause, detail, ...fromNow(settleAt, dueAt, deadline), ...core(open) };
    }
    case 'lookup_absent':
      if (intent.state !== 'unknown') throw new IllegalTransition('lookup_absent outside unknown');
      return {
        ...intent,
        version: intent.version + 1,
        attempts: event.absences > 1 ? clear(attempts) : attempts,
        absences: event.absences,
        absentAt: at,
        dueAt: event.dueAt,
      };
    case 'lookup_inconclusive':
      if (intent.state !== 'unknown' && intent.state !== 'accepted') throw new IllegalTransition('lookup_inconclusive');
      return { ...intent, version: intent.version + 1, asked: intent.asked + 1, dueAt: event.dueAt };
    case 'replay_requested': {
      const { reason, settleAt, dueAt, deadline, expiresAt } = event;
      return {
        ...core(),
        maxAttempts: Math.max(intent.maxAttempts, countedAttempts(intent) + 1),
        expiresAt,
        cancelledBy: null,
        state: 'unknown',
        cause: 'replay_requested',
        detail: reason,
        ...fromNow(settleAt, dueAt, deadline),
      };
    }
    case 'committed': {
      const { proof, data, attempt } = event;
      const marked = attempt === null ? attempts : mark(attempts, attempt, 'executed', null);
      return { state: 'committed', proof, data, reviewed: false, ...core(marked) };
    }
    case 'corrected': {
      const { attempt, finding, data, breach = null } = event;
      const marked = attempt === null ? attempts : mark(attempts, attempt, 'executed', finding);
      const corrections = [...intent.corrections, { attempt, finding, data, breach }];
      return { ...intent, version: intent.version + 1, attempts: marked, corrections };
    }
    case 'refused':
    case 'resolved':
      return { ...intent, version: intent.version + 1 };
    case 'cancel_requested':
      return { ...intent, version: intent.version + 1, cancelledBy: event.by };
    case 'reviewed':
      if (intent.state !== 'committed') throw new IllegalTransition('reviewed outside committed');
      return { ...intent, version: intent.version + 1, reviewed: true };
    case 'denied':
      return { state: 'denied', failure: event.failure, ...core() };
    case 'failed':
      return { state: 'failed', failure: event.failure, ...core() };
    case 'dead_lettered':
      return { state: 'dead_lettered', reason: event.reason, detail: event.detail, ...core() };
    case 'cancelled':
      return { state: 'cancelled', by: event.by, ...core() };
    case 'expired':
      return { state: 'expired', ...core() };
  }
}

/** What it goes by once people agree: as before where it had been cleared already. */
function clearanceOf(intent: Intent): Clearance {
  if (intent.state !== 'authorized' && intent.state !== 'awaiting_approval') {
    return { basis: 'approved', notBefore: null, resendUntil: null };
  }
  const { basis, notBefore, resendUntil } = intent;
  return { basis, notBefore, resendUntil };
}

/** A question that nobody has been asked yet. */
function fromNow(settleAt: number, dueAt: number, deadline: number) {
  return { settleAt, dueAt, deadline, absences: 0, absentAt: null, asked: 0 };
}

function begin(event: Extract<IntentEvent, { type: 'recorded' }>, at: number): Intent {
  const { proposal } = event;
  return {
    proposal,
    version: 1,
    recordedAt: at,
    since: at,
    attempts: [],
    maxAttempts: proposal.terms.maxAttempts,
    expiresAt: proposal.expiresAt,
    corrections: [],
    cancelledBy: null,
    approvals: null,
    state: 'pending',
  };
}

/** Only what is true in every state, so that nothing of the old variant leaks into the new one. */
function coreOf(intent: Intent, at: number, attempts: readonly Attempt[]): Core {
  const { proposal, version, recordedAt, maxAttempts, expiresAt, corrections, cancelledBy, approvals } = intent;
  return {
    proposal,
    version: version + 1,
    recordedAt,
    since: at,
    attempts,
    maxAttempts,
    expiresAt,
    corrections,
    cancelledBy,
    approvals,
  };
}

function mark(
  attempts: readonly Attempt[],
  number: number,
  verdict: Attempt['verdict'],
  cause: string | null,
): Attempt[] {
  return attempts.map((a) => (a.number === number ? { ...a, verdict, cause: cause ?? a.cause } : a));
}

function accept(attempts: readonly Attempt[], number: number, data: Json): Attempt[] {
  return mark(attempts, number, 'accepted', null).map((a) => (a.number === number ? { ...a, accepted: data } : a));
}

function ruledOut(attempts: readonly Attempt[], number: number, cause: string, sent: boolean): Attempt[] {
  return mark(attempts, number, 'not_executed', cause).map((a) => (a.number === number ? { ...a, sent } : a));
}

/** Two absences after the settle time outweigh an "accepted", too: what was promised did not happen. */
function clear(attempts: readonly Attempt[]): Attempt[] {
  return attempts.map((a) =>
    a.verdict === 'unknown' || a.verdict === 'accepted' ? { ...a, verdict: 'absent' as const } : a,
  );
}

/** Left fold of a whole stream. */
export function fold(events: readonly { readonly event: IntentEvent; readonly at: number }[]): Intent | null {
  let intent: Intent | null = null;
  for (const { event, at } of events) intent = evolve(intent, event, at);
  return intent;
}
