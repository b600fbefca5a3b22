import type { Decision } from './commands.js';
import { accept, reject, unchanged } from './decision.js';
import type { Breach, IntentEvent } from './events.js';
import { acceptedBy } from './follow-up.js';
import { type Json, sameJson } from './json.js';
import { afterNotExecuted } from './not-executed.js';
import type { Attempt, In, Intent } from './state.js';
import { keepsKey } from './terms.js';
import type { Verdict } from './verdict.js';

type Executed = Extract<Verdict, { kind: 'executed' }>;

/** The verdict of an attempt that the intent does not wait for any more: its lease ended, or it is told twice. */
export function lateVerdict(attempt: Attempt, verdict: Verdict, jitter: number, intent: Intent, now: number): Decision {
  switch (verdict.kind) {
    case 'executed':
      return intent.proposal.terms.effect === 'read'
        ? lateAnswer(attempt, verdict, intent)
        : lateSuccess(attempt, verdict, intent);
    case 'not_executed': {
      const rescued = intent.state === 'unknown' && attempt.verdict === 'unknown' && attempt === intent.attempts.at(-1);
      // The owner of a rescued attempt knows better than the clock: nothing was sent after all.
      return rescued ? afterNotExecuted(attempt, verdict, jitter, intent, now) : unchanged;
    }
    case 'accepted': {
      const open = intent.state === 'unknown' || intent.state === 'authorized' || intent.state === 'awaiting_approval';
      const doubted = attempt.verdict === 'unknown' || attempt.verdict === 'absent';
      // It will run, so an absence means nothing any more and nothing may be sent again.
      return open && doubted ? accept(acceptedBy(attempt, verdict.data, intent, now)) : unchanged;
    }
    case 'unknown':
      return unchanged;
  }
}

/**
 * True when two answers tell of one effect: a remembered key makes the upstream repeat its first answer. Without a
 * key each answer is an effect of its own, however alike they look.
 */
export function sameEffect(one: Json, other: Json, intent: Intent): boolean {
  return keepsKey(intent.proposal.terms) && sameJson(one, other);
}

/** A read's late answer is welcome as long as nobody has another one; it is never an effect too many. */
function lateAnswer(attempt: Attempt, { data }: Executed, intent: Intent): Decision {
  switch (intent.state) {
    case 'awaiting_approval':
    case 'authorized':
    case 'accepted':
    case 'unknown':
    case 'dead_lettered':
      return accept({ type: 'committed', proof: 'response', attempt: attempt.number, data });
    case 'pending':
    case 'dispatching':
    case 'committed':
    case 'failed':
    case 'denied':
    case 'cancelled':
    case 'expired':
      return unchanged;
  }
}

function lateSuccess(attempt: Attempt, { data }: Executed, intent: Intent): Decision {
  if (attempt.verdict === 'executed') return unchanged;
  const committed: IntentEvent = { type: 'committed', proof: 'response', attempt: attempt.number, data };
  const corrected: IntentEvent = {
    type: 'corrected',
    attempt: attempt.number,
    finding: 'executed',
    data,
    ...breachOf(attempt),
  };
  switch (intent.state) {
    case 'unknown':
    case 'accepted':
      return accept(committed);
    case 'awaiting_approval':
    case 'authorized':
    case 'dead_lettered':
      // Somebody was told otherwise: a resend had been allowed, or a person had been asked.
      return accept(corrected, committed);
    case 'dispatching':
    case 'failed':
    case 'denied':
    case 'cancelled':
    case 'expired':
      return accept(corrected);
    case 'committed':
      return successAfterCommit(attempt, data, intent);
    case 'pending':
      return reject('unknown_attempt');
  }
}

/** Its absence had been proven after the settle time, so it took longer than the tool file says anything can. */
function breachOf(attempt: Attempt): { readonly breach?: Breach } {
  return attempt.verdict === 'absent' ? { breach: 'max_processing' } : {};
}

function successAfterCommit(attempt: Attempt, data: Json, intent: In<'committed'>): Decision {
  const corrected = { type: 'corrected' as const, attempt: attempt.number, data, ...breachOf(attempt) };
  if (intent.attempts.some((a) => a.verdict === 'executed')) {
    return sameEffect(intent.data, data, intent) ? unchanged : accept({ ...corrected, finding: 'second_effect' });
  }
  // A lookup or a person counted an effect without naming its attempt; this one had been ruled out until now.
  const ruledOut = attempt.verdict === 'absent' || attempt.verdict === 'not_executed';
  return ruledOut ? accept({ ...corrected, finding: 'executed' }) : unchanged;
}
