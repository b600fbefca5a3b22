import type { Basis, IntentEvent } from './events.js';
import type { Json } from './json.js';
import { type Attempt, type In, type Intent, isTerminal, mayHaveRun } from './state.js';
import { keepsKey } from './terms.js';

/** Exponential backoff, doubled per try and capped at five minutes. `jitter` in [0, 1) spreads over the upper half. */
export function backoff(firstMs: number, tries: number, jitter: number): number {
  const full = longest(firstMs, tries);
  return Math.round(full / 2 + (full / 2) * jitter);
}

/**
 * The same for reads, spread over the whole time: they are asked in crowds and may be repeated freely, so that keeping them
 * apart matters more than a least distance (https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/).
 */
export function readBackoff(firstMs: number, tries: number, jitter: number): number {
  return Math.round(longest(firstMs, tries) * jitter);
}

function longest(firstMs: number, tries: number): number {
  return Math.min(firstMs * 2 ** tries, 300_000);
}

/** Attempts that nobody has proof of; a later "not executed" says nothing good about them (rule: unknown is sticky). */
export function unproven(attempts: readonly Attempt[]): boolean {
  return attempts.some((a) => a.verdict === 'unknown' || a.verdict === 'accepted' || a.verdict === 'absent');
}

/** For whoever is told that it is over: no attempt, if there was one, has done anything. */
export function nothingDone({ attempts }: Intent): string {
  return attempts.some((a) => a.sent) ? 'Nothing has happened' : 'Nothing was sent';
}

/** The outcome is open again: counted from `now`, which lies after the last byte any attempt can have sent. */
export function unknownFrom(intent: Intent, cause: string, detail: string, now: number): IntentEvent {
  const { settleMs, deadlineMs } = intent.proposal.terms;
  const settleAt = now + settleMs;
  return {
    type: 'outcome_unknown',
    cause,
    detail,
    settleAt,
    dueAt: firstLookup(intent, now, settleAt),
    deadline: settleAt + deadlineMs,
  };
}

/** The upstream promised to run it: it is asked about, never sent again. */
export function acceptedBy(attempt: Attempt, data: Json, intent: Intent, now: number): IntentEvent {
  const { settleMs, deadlineMs, backoffMs, poll } = intent.proposal.terms;
  if (poll) {
    return {
      type: 'accepted',
      attempt: attempt.number,
      data,
      dueAt: now + poll.everyMs,
      deadline: now + poll.deadlineMs,
    };
  }
  const deadline = now + settleMs + deadlineMs;
  return { type: 'accepted', attempt: attempt.number, data, dueAt: now + backoffMs, deadline };
}

/** A lookup can prove presence at once, so the first one does not wait for the settle time. */
export function firstLookup(intent: Intent, now: number, settleAt: number): number {
  const { terms } = intent.proposal;
  return terms.lookup === 'none' ? settleAt : Math.min(now + terms.backoffMs, settleAt);
}

export function authorize(basis: Basis, notBefore: number | null, resendUntil: number | null): IntentEvent {
  return { type: 'authorized', basis, notBefore, resendUntil };
}

/**
 * Until when a resend under the same key may start: the key counts as remembered from the first attempt on, and a
 * request may leave until the end of its lease. Null when the upstream remembers no keys or has not seen this one.
 */
export function keyKnownUntil(intent: Intent): number | null {
  const first = intent.attempts[0];
  if (!first || !keepsKey(intent.proposal.terms)) return null;
  const { retentionMs, leaseMs } = intent.proposal.terms;
  return first.startedAt + retentionMs - leaseMs;
}

/**
 * Until when sending this intent again cannot double its effect, whatever became of it: ms since the epoch. Null where
 * there is no such time: nothing was sent, the upstream remembers no keys (a resend then needs proof of absence), the
 * upstream has taken the request on, or the matter is closed.
 */
export function safeResendUntil(intent: Intent): number | null {
  return isTerminal(intent) || intent.state === 'accepted' ? null : keyKnownUntil(intent);
}

/** Authority ended before the next attempt. Honest about the earlier ones: only what is proven is called expired. */
export function endOfAuthority(intent: In<'authorized' | 'awaiting_approval'>): IntentEvent {
  return mayHaveRun(intent.attempts)
    ? { type: 'dead_lettered', reason: 'authority_expired', detail: 'the run ended before the outcome was known' }
    : { type: 'expired' };
}
