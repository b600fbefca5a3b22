import type { Decision } from './commands.js';
import { accept } from './decision.js';
import type { IntentEvent } from './events.js';
import { failureOf } from './failure.js';
import { authorize, backoff, unknownFrom, unproven } from './follow-up.js';
import type { Attempt, Correction, Intent } from './state.js';
import type { Verdict } from './verdict.js';

export type NotExecuted = Extract<Verdict, { kind: 'not_executed' }>;

/** One attempt provably did not run: what that means for the intent depends on the earlier ones. */
export function afterNotExecuted(
  attempt: Attempt,
  { cause, detail, transient, retryAfterMs }: NotExecuted,
  jitter: number,
  intent: Intent,
  now: number,
): Decision {
  const { terms } = intent.proposal;
  const fact: IntentEvent = { type: 'attempt_not_executed', attempt: attempt.number, cause, detail };
  const proven = executedEarlier(intent);
  if (proven) return accept(fact, commitEarlier(proven));
  const earlier = intent.attempts.filter((a) => a.number !== attempt.number);
  if (unproven(earlier)) {
    return accept(fact, unknownFrom(intent, 'earlier_attempt_unknown', `attempt ${attempt.number}: ${cause}`, now));
  }
  const wait = Math.max(retryAfterMs ?? 0, backoff(terms.backoffMs, earlier.length, jitter));
  const again = transient && intent.attempts.length < intent.maxAttempts && now + wait < intent.expiresAt;
  return again
    ? accept(fact, authorize('not_executed', now + wait, null))
    : accept(fact, { type: 'failed', failure: failureOf(cause, detail, intent) });
}

/** A correction found while a later attempt was open: any executed attempt makes the intent executed. */
export function executedEarlier(intent: Intent): Correction | null {
  return intent.corrections.find((c) => c.finding === 'executed') ?? null;
}

export function commitEarlier(found: Correction): IntentEvent {
  return { type: 'committed', proof: 'response', attempt: found.attempt, data: found.data };
}
