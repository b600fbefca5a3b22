import type { Command, Decision } from './commands.js';
import { accept, reject } from './decision.js';
import type { IntentEvent } from './events.js';
import { acceptedBy, unknownFrom } from './follow-up.js';
import { lateVerdict, sameEffect } from './late-verdict.js';
import { afterNotExecuted, commitEarlier, executedEarlier } from './not-executed.js';
import type { Attempt, Intent } from './state.js';
import type { Verdict } from './verdict.js';

type RecordVerdict = Omit<Extract<Command, { type: 'record_verdict' }>, 'type'>;

/** What the end of one wire attempt means for the intent, whether it comes in time, late or twice. */
export function decideVerdict(command: RecordVerdict, intent: Intent, now: number): Decision {
  const attempt = intent.attempts.find((a) => a.attemptId === command.attemptId);
  if (!attempt) return reject('unknown_attempt');
  const { verdict, jitter } = command;
  const inTime = intent.state === 'dispatching' && intent.attempt.attemptId === attempt.attemptId;
  if (!inTime) return lateVerdict(attempt, verdict, jitter, intent, now);
  switch (verdict.kind) {
    case 'executed':
      return executed(attempt, verdict, intent);
    case 'accepted':
      // A read that is answered later was not answered.
      if (intent.proposal.terms.effect === 'read') {
        const verdict = { cause: 'answered_later', detail: 'the upstream will answer later' };
        return unanswered(attempt, verdict, jitter, intent, now);
      }
      return unlessExecutedEarlier(intent, acceptedBy(attempt, verdict.data, intent, now), ...unfollowable(intent));
    case 'not_executed':
      return afterNotExecuted(attempt, verdict, jitter, intent, now);
    case 'unknown':
      return unknown(attempt, verdict, jitter, intent, now);
  }
}

function executed(attempt: Attempt, { data }: Extract<Verdict, { kind: 'executed' }>, intent: Intent): Decision {
  const committed: IntentEvent = { type: 'committed', proof: 'response', attempt: attempt.number, data };
  const proven = executedEarlier(intent);
  if (!proven || sameEffect(proven.data, data, intent)) return accept(committed);
  return accept(committed, {
    type: 'corrected',
    attempt: proven.attempt,
    finding: 'second_effect',
    data: proven.data,
  });
}

function unknown(
  attempt: Attempt,
  verdict: Extract<Verdict, { kind: 'unknown' }>,
  jitter: number,
  intent: Intent,
  now: number,
): Decision {
  const { terms } = intent.proposal;
  if (terms.effect === 'read') return unanswered(attempt, verdict, jitter, intent, now);
  const event = unknownFrom(intent, verdict.cause, verdict.detail, now);
  if (terms.lookup === 'none' && terms.guarantee === 'none') {
    const detail = 'the tool has neither a key nor a lookup';
    return accept(event, { type: 'dead_lettered', reason: 'no_way_to_tell', detail });
  }
  return unlessExecutedEarlier(intent, event);
}

/** The upstream took it on, and the tool can neither follow it nor look for it: nobody would ever know. */
function unfollowable({ proposal: { terms } }: Intent): IntentEvent[] {
  if (terms.poll || terms.lookup !== 'none') return [];
  const detail = 'accepted by the upstream, and the tool has neither a poll nor a lookup';
  return [{ type: 'dead_lettered', reason: 'no_way_to_tell', detail }];
}

/** A read that got no answer changed nothing; it may simply be asked again. */
function unanswered(
  attempt: Attempt,
  { cause, detail }: { readonly cause: string; readonly detail: string },
  jitter: number,
  intent: Intent,
  now: number,
): Decision {
  const nothing = { kind: 'not_executed', cause, detail, transient: true, retryAfterMs: null } as const;
  return afterNotExecuted(attempt, nothing, jitter, intent, now);
}

function unlessExecutedEarlier(intent: Intent, event: IntentEvent, ...followUp: IntentEvent[]): Decision {
  const proven = executedEarlier(intent);
  return proven ? accept(event, commitEarlier(proven)) : accept(event, ...followUp);
}
