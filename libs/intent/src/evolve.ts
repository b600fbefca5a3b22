import type { IntentEvent } from './events.js';
import type { Attempt, Core, Intent } from './state.js';
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

  const core = coreOf(intent, at);
  switch (event.type) {
    case 'authorized': {
      const cleared = event.basis === 'absent' ? clear(core.attempts) : core.attempts;
      const { basis, notBefore, resendUntil } = event;
      return { ...core, attempts: cleared, state: 'authorized', basis, notBefore, resendUntil };
    }
    case 'attempt_started': {
      const { attemptId, leaseUntil } = event;
      const attempt: Attempt = {
        number: event.attempt,
        attemptId,
        startedAt: at,
        leaseUntil,
        verdict: 'open',
        cause: null,
      };
      return { ...core, attempts: [...core.attempts, attempt], state: 'dispatching', attempt };
    }
    case 'attempt_not_executed':
      return { ...core, attempts: mark(core.attempts, event.attempt, 'not_executed', event.cause), state: 'pending' };
    case 'accepted': {
      const attempts = mark(core.attempts, event.attempt, 'accepted', null);
      return {
        ...core,
        attempts,
        state: 'accepted',
        data: event.data,
        dueAt: event.dueAt,
        deadline: event.deadline,
        asked: 0,
      };
    }
    case 'outcome_unknown': {
      const { cause, detail, settleAt, dueAt, deadline } = event;
      const attempts = core.attempts.map((a) =>
        a.verdict === 'open' ? { ...a, verdict: 'unknown' as const, cause } : a,
      );
      return {
        ...core,
        attempts,
        state: 'unknown',
        cause,
        detail,
        settleAt,
        dueAt,
        deadline,
        absences: 0,
        absentAt: null,
        asked: 0,
      };
    }
    case 'lookup_absent':
      if (intent.state !== 'unknown') throw new IllegalTransition('lookup_absent outside unknown');
      return { ...intent, version: core.version, absences: event.absences, absentAt: at, dueAt: event.dueAt };
    case 'lookup_inconclusive':
      if (intent.state !== 'unknown' && intent.state !== 'accepted') throw new IllegalTransition('lookup_inconclusive');
      return { ...intent, version: core.version, asked: intent.asked + 1, dueAt: event.dueAt };
    case 'replay_requested': {
      const { settleAt, dueAt, deadline } = event;
      const allowed = Math.max(core.maxAttempts, core.attempts.length + 1);
      return {
        ...core,
        maxAttempts: allowed,
        expiresAt: event.expiresAt,
        state: 'unknown',
        cause: 'replay_requested',
        detail: event.reason,
        settleAt,
        dueAt,
        deadline,
        absences: 0,
        absentAt: null,
        asked: 0,
      };
    }
    case 'committed': {
      const attempts = event.attempt === null ? core.attempts : mark(core.attempts, event.attempt, 'executed', null);
      return { ...core, attempts, state: 'committed', proof: event.proof, data: event.data };
    }
    case 'corrected': {
      const attempts =
        event.attempt === null ? intent.attempts : mark(intent.attempts, event.attempt, 'executed', event.finding);
      const { attempt, finding, data } = event;
      const corrections = [...intent.corrections, { attempt, finding, data }];
      return { ...intent, version: core.version, attempts, corrections };
    }
    case 'resolved':
      return { ...intent, version: core.version };
    case 'denied':
      return { ...core, state: 'denied', failure: event.failure };
    case 'failed':
      return { ...core, state: 'failed', failure: event.failure };
    case 'dead_lettered':
      return { ...core, state: 'dead_lettered', reason: event.reason, detail: event.detail };
    case 'cancelled':
      return { ...core, state: 'cancelled', by: event.by };
    case 'expired':
      return { ...core, state: 'expired' };
  }
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
    state: 'pending',
  };
}

/** Only what is true in every state, so that nothing of the old variant leaks into the new one. */
function coreOf(intent: Intent, at: number): Core {
  const { proposal, version, recordedAt, attempts, maxAttempts, expiresAt, corrections } = intent;
  return { proposal, version: version + 1, recordedAt, since: at, attempts, maxAttempts, expiresAt, corrections };
}

function mark(
  attempts: readonly Attempt[],
  number: number,
  verdict: Attempt['verdict'],
  cause: string | null,
): Attempt[] {
  return attempts.map((a) => (a.number === number ? { ...a, verdict, cause: cause ?? a.cause } : a));
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
