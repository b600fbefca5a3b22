import type { Command, Decision } from './commands.js';
import { accept, unchanged } from './decision.js';
import type { Breach, DeadLetterReason, Finding, IntentEvent } from './events.js';
import { cancelledFailure, failureOf } from './failure.js';
import { authorize, backoff, keyKnownUntil } from './follow-up.js';
import type { Json } from './json.js';
import { sameEffect } from './late-verdict.js';
import { countedAttempts, type In, type Intent } from './state.js';
import { keepsKey } from './terms.js';
import type { LookupAnswer } from './verdict.js';

type Looked = Omit<Extract<Command, { type: 'record_lookup' }>, 'type'>;

/**
 * What an answer of the tool's lookup means (docs/outcomes.md, "Reconciliation").
 * A tool without a lookup is asked too; its answer is always `cannot_tell`.
 */
export function decideLookup(looked: Looked, intent: Intent, now: number): Decision {
  const { answer, askedAt, answeredAt = now } = looked;
  switch (intent.state) {
    case 'unknown':
      switch (answer.kind) {
        case 'present':
          return foundNow(answer, intent);
        case 'absent':
          return absent(intent, askedAt, now);
        case 'partial':
          return partial(answer.detail, askedAt, intent, now);
        case 'cannot_tell':
          return cannotTell(answer.detail, intent, now);
      }
      break;
    case 'accepted':
      return answer.kind === 'present'
        ? foundNow(answer, intent)
        : accept(stillRunning(answer.kind === 'absent' ? 'not there yet' : answer.detail, intent, now));
    case 'failed':
    case 'denied':
    case 'cancelled':
    case 'expired':
      if (intent.attempts.length === 0 && intent.state === 'denied') return unchanged;
      if (!isThere(answer) || intent.corrections.length > 0) return unchanged;
      // Nobody was misled about an effect: a read has none.
      if (intent.proposal.terms.effect === 'read') return unchanged;
      return accept({
        type: 'corrected',
        attempt: null,
        finding: answer.kind === 'partial' ? 'partial_effect' : 'executed',
        data: answer.data,
        ...breachOf(intent),
      });
    case 'dead_lettered':
    case 'awaiting_approval':
    case 'authorized':
      if (answer.kind === 'partial' && intent.state !== 'dead_lettered' && intent.attempts.length > 0) {
        return accept(dead('partial_effect', answer.detail));
      }
      // The answer to a question from before: a person had been asked, or a resend allowed, and neither is needed.
      if (answer.kind !== 'present' || intent.attempts.length === 0) return unchanged;
      return accept(
        { type: 'corrected', attempt: null, finding: 'executed', data: answer.data, ...breachOf(intent) },
        found(answer, intent),
      );
    case 'dispatching':
    case 'committed':
      return isThere(answer) && isAboutEarlier(intent, answeredAt) && !isCounted(answer.data, intent)
        ? accept({
            type: 'corrected',
            attempt: null,
            finding: lateFinding(answer, intent),
            data: answer.data,
            ...breachOf(intent),
          })
        : unchanged;
    case 'pending':
      return unchanged;
  }
}

/**
 * Answered before the last attempt started, so what was found is the work of an earlier one, ruled out meanwhile. That it
 * was asked before is not enough: the last attempt may have taken effect while the question was under way.
 */
function isAboutEarlier(intent: Intent, answeredAt: number): boolean {
  const last = intent.attempts.at(-1);
  if (!last || intent.attempts.length < 2 || intent.proposal.terms.effect === 'read') return false;
  return answeredAt < last.startedAt && intent.corrections.length === 0;
}

/** A remembered key makes the last attempt's answer tell of the same effect. */
function isCounted(data: Json, intent: Intent): boolean {
  return intent.state === 'committed' && sameEffect(intent.data, data, intent);
}

/** The whole effect or a part of it: either way it happened. */
function isThere(answer: LookupAnswer): answer is Extract<LookupAnswer, { kind: 'present' | 'partial' }> {
  return answer.kind === 'present' || answer.kind === 'partial';
}

/** An attempt whose absence had been proven took effect all the same. */
function breachOf(intent: Intent): { readonly breach?: Breach } {
  return intent.attempts.some((a) => a.verdict === 'absent') ? { breach: 'max_processing' } : {};
}

/** While the last attempt is open it is the first effect that is known of; after it, one too many. */
function lateFinding({ kind }: LookupAnswer, intent: Intent): Finding {
  if (kind === 'partial' && intent.state === 'dispatching') return 'partial_effect';
  return intent.state === 'committed' && intent.proof === 'response' ? 'second_effect' : 'executed';
}

function found(answer: Extract<LookupAnswer, { kind: 'present' }>, intent: Intent): IntentEvent {
  const only = intent.attempts.length === 1 ? 1 : null;
  return { type: 'committed', proof: 'lookup', attempt: only, data: answer.data };
}

function foundNow(answer: Extract<LookupAnswer, { kind: 'present' }>, intent: Intent): Decision {
  const { excess = 0, data } = answer;
  const committed = found(answer, intent);
  if (excess === 0) return accept(committed);
  return accept(committed, { type: 'corrected', attempt: null, finding: 'second_effect', data, ...breachOf(intent) });
}

/** Parts that are missing after the settle time will stay missing; neither a resend nor a commit would be right. */
function partial(detail: string, askedAt: number, intent: In<'unknown'>, now: number): Decision {
  if (askedAt < intent.settleAt) return waitUntil(intent.settleAt, detail, intent);
  return intent.proposal.terms.lookup === 'authoritative'
    ? accept(dead('partial_effect', detail))
    : cannotTell(detail, intent, now);
}

function absent(intent: In<'unknown'>, askedAt: number, now: number): Decision {
  const { terms } = intent.proposal;
  if (askedAt < intent.settleAt) {
    return waitUntil(intent.settleAt, 'not there, but it may still be on its way', intent);
  }
  if (terms.lookup !== 'authoritative' || terms.guarantee === 'none') {
    return withoutProof('absence_not_provable', intent, now);
  }
  if (intent.absentAt === null) return accept({ type: 'lookup_absent', absences: 1, dueAt: now + terms.spacingMs });
  const second = intent.absentAt + terms.spacingMs;
  if (askedAt < second) return waitUntil(second, 'not there, asked too soon after the first absence', intent);
  return accept({ type: 'lookup_absent', absences: intent.absences + 1, dueAt: now }, afterAbsence(intent, now));
}

/** An answer that proves nothing yet must not bring the next question forward: a late one would be asked in circles. */
function waitUntil(dueAt: number, detail: string, intent: In<'unknown'>): Decision {
  return intent.dueAt >= dueAt ? unchanged : accept({ type: 'lookup_inconclusive', detail, dueAt });
}

/** Two spaced, authoritative absences: it did not happen, so what now? */
function afterAbsence(intent: In<'unknown'>, now: number): IntentEvent {
  if (intent.cancelledBy !== null) return { type: 'failed', failure: cancelledFailure(intent) };
  const last = intent.attempts.at(-1);
  // The last attempt was refused, and the earlier ones are proven absent: sending again would be refused again.
  // An operator who asks for a replay wants just that.
  if (last?.verdict === 'not_executed' && last.sent && !isReplay(intent)) {
    return { type: 'failed', failure: failureOf(last.cause ?? 'not_executed', 'refused', false, intent) };
  }
  if (now >= intent.expiresAt) return { type: 'expired' };
  const forgotten = keyKnownUntil(intent);
  const keyIsOver = forgotten !== null && now >= forgotten;
  if (keyIsOver && !isReplay(intent)) return dead('key_retention_passed', 'the upstream may have forgotten the key');
  if (countedAttempts(intent) >= intent.maxAttempts) return exhausted(intent);
  return authorize('absent', null, keyIsOver ? null : forgotten);
}

/** An operator asked for this round, so absence alone is enough where the run would have needed the key as well. */
function isReplay(intent: In<'unknown'>): boolean {
  return intent.cause === 'replay_requested';
}

/** No proof of absence can be had: only the remembered key makes another attempt safe. */
function withoutProof(reason: DeadLetterReason, intent: In<'unknown'>, now: number): Decision {
  if (intent.cancelledBy !== null) {
    return accept(dead(reason, `cancelled by ${intent.cancelledBy}; only a resend could have told what happened`));
  }
  const forgotten = keyKnownUntil(intent);
  if (!keepsKey(intent.proposal.terms) || forgotten === null) {
    return accept(dead(reason, 'neither the lookup nor the key can show that a resend is safe'));
  }
  if (now >= forgotten) return accept(dead('key_retention_passed', 'the upstream may have forgotten the key'));
  if (countedAttempts(intent) >= intent.maxAttempts) return accept(exhausted(intent));
  if (now >= intent.expiresAt) return accept(dead('authority_expired', 'the run ended before the outcome was known'));
  return accept(authorize('same_key', null, forgotten));
}

function cannotTell(detail: string, intent: In<'unknown'>, now: number): Decision {
  const { terms } = intent.proposal;
  if (terms.lookup === 'none') {
    if (now < intent.settleAt) return accept({ type: 'lookup_inconclusive', detail, dueAt: intent.settleAt });
    return withoutProof('no_way_to_tell', intent, now);
  }
  const forgotten = keyKnownUntil(intent);
  if (forgotten !== null && now >= Math.max(forgotten, intent.settleAt) && !isReplay(intent)) {
    return accept(dead('key_retention_passed', detail));
  }
  if (now >= intent.deadline) return accept(dead('lookup_deadline', detail));
  return accept({ type: 'lookup_inconclusive', detail, dueAt: now + backoff(terms.backoffMs, intent.asked, 1) });
}

function stillRunning(detail: string, intent: In<'accepted'>, now: number): IntentEvent {
  if (now >= intent.deadline) return dead('lookup_deadline', `accepted by the upstream, then ${detail}`);
  return {
    type: 'lookup_inconclusive',
    detail,
    dueAt: now + backoff(intent.proposal.terms.backoffMs, intent.asked, 1),
  };
}

function exhausted({ attempts }: Intent): IntentEvent {
  return dead('attempts_exhausted', `${attempts.length} attempts were made`);
}

function dead(reason: DeadLetterReason, detail: string): IntentEvent {
  return { type: 'dead_lettered', reason, detail };
}
