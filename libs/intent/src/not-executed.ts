import type { Decision } from './commands.js';
import { accept } from './decision.js';
import type { IntentEvent } from './events.js';
import { cancelledFailure, failureOf } from './failure.js';
import { authorize, backoff, keyKnownUntil, readBackoff, unknownFrom, unproven } from './follow-up.js';
import { type Attempt, type Correction, type Intent, mayHaveRun } from './state.js';
import type { Verdict } from './verdict.js';

export type NotExecuted = Extract<Verdict, { kind: 'not_executed' }>;

/** One attempt provably did not run: what that means for the intent depends on the earlier ones. */
export function afterNotExecuted(
  attempt: Attempt,
  { cause, detail, transient, retryAfterMs, sent = true }: NotExecuted,
  jitter: number,
  intent: Intent,
  now: number,
): Decision {
  const { terms } = intent.proposal;
  const fact: IntentEvent = {
    type: 'attempt_not_executed',
    attempt: attempt.number,
    cause,
    detail,
    ...(sent ? {} : { sent }),
  };
  const proven = executedEarlier(intent);
  if (proven) return accept(fact, commitEarlier(proven));
  const earlier = intent.attempts.filter((a) => a.number !== attempt.number);
  const spread = terms.effect === 'read' ? readBackoff : backoff;
  const wait = Math.max(retryAfterMs ?? 0, spread(terms.backoffMs, earlier.length, jitter));
  // Tries that never left do not use up wire attempts; they have as many of their own.
  const tries = earlier.filter((a) => a.sent === sent).length + 1;
  const again = transient && tries < intent.maxAttempts && now + wait < intent.expiresAt && intent.cancelledBy === null;
  if (unproven(earlier)) {
    const resend = again && !sent ? sameResend(earlier, intent, now + wait) : null;
    if (resend) return accept(fact, resend);
    return accept(fact, unknownFrom(intent, 'earlier_attempt_unknown', `attempt ${attempt.number}: ${cause}`, now));
  }
  if (intent.cancelledBy !== null) return accept(fact, { type: 'failed', failure: cancelledFailure(intent) });
  if (again) return accept(fact, authorize('not_executed', now + wait, null));
  if (waitsForOwner.has(cause)) return accept(fact, { type: 'dead_lettered', reason: 'adapter_missing', detail });
  return accept(fact, { type: 'failed', failure: failureOf(cause, detail, transient, intent) });
}

/**
 * The resend that did not leave, once more: nothing has happened since it was allowed, so what allowed it still holds.
 * Null where the key will be forgotten by then, or parts of the effect have been found since.
 */
function sameResend(earlier: readonly Attempt[], intent: Intent, notBefore: number): IntentEvent | null {
  if (intent.corrections.length > 0) return null;
  const forgotten = keyKnownUntil(intent);
  if (forgotten !== null && notBefore >= forgotten) return null;
  if (!mayHaveRun(earlier)) return authorize('absent', notBefore, forgotten);
  return forgotten === null ? null : authorize('same_key', notBefore, forgotten);
}

/** Causes that are no answer of the upstream but a gap in this installation: once it is closed, a replay sends. */
const waitsForOwner: ReadonlySet<string> = new Set(['adapter_missing', 'tool_not_loaded']);

/** A correction found while a later attempt was open: any executed attempt makes the intent executed. */
export function executedEarlier(intent: Intent): Correction | null {
  return intent.corrections.find((c) => c.finding === 'executed') ?? null;
}

export function commitEarlier(found: Correction): IntentEvent {
  return { type: 'committed', proof: 'response', attempt: found.attempt, data: found.data };
}
