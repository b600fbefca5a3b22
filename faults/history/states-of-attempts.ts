import type { EventRow } from './database.js';
import type { DangerousState, Evidence } from './evidence.js';
import type { LedgerEntry } from './ledger.js';
import type { AttemptTrace, IntentTrace } from './traces.js';

const deadLetterReasons = {
  no_way_to_tell: 'the tool has no way to find out',
  absence_not_provable: 'the lookup cannot prove an absence',
  lookup_deadline: 'the lookup gave no answer until its deadline',
  key_retention_passed: 'the upstream may have forgotten the key',
  attempts_exhausted: 'all attempts were used up',
  authority_expired: 'the run ended before the outcome was known',
  partial_effect: 'a part of the effect is there and the rest is not',
  poll_deadline: 'the upstream took it on and never told the end',
  adapter_missing: 'what sends it is missing',
} as const;

/** What can be seen in the log and the ledger of one intent. */
export const statesOfAttempts: readonly DangerousState[] = [
  perIntent(
    'lease ended with an attempt open',
    'A lease ran out and nobody had told what became of the attempt.',
    (trace) => trace.events.filter(isLeaseEnd).length,
  ),
  perIntent(
    'late verdict',
    'The verdict of an attempt came after its lease had ended, and the log took it.',
    ({ events }) => events.filter((event, i) => isVerdict(event) && endedBefore(event, events.slice(0, i))).length,
  ),
  perIntent(
    'effect without an answer',
    'The upstream acted, and whoever had sent the request was gone.',
    (trace) => effectsOf(trace).filter(({ end }) => end !== null && isLeaseEnd(end)).length,
  ),
  perIntent(
    'answer lost after the effect',
    'The upstream acted, and its answer never came, or could not be read.',
    (trace) => effectsOf(trace).filter(({ end }) => end?.type === 'outcome_unknown' && !isLeaseEnd(end)).length,
  ),
  perIntent('no answer and no effect', 'A request was on the wire, was never answered, and had no effect.', (trace) => {
    const withEffect = new Set(effectsOf(trace).map(({ attemptId }) => attemptId));
    const sent = requestsOf(trace);
    return trace.attempts.filter(
      ({ attemptId, end }) =>
        end?.type === 'outcome_unknown' && sent.some((each) => each === attemptId) && !withEffect.has(attemptId),
    ).length;
  }),
  perIntent(
    'settle wait',
    'The lookup found nothing while the effect could still have come, and that was not taken for an absence.',
    (trace) => unknownSpans(trace).filter((span) => lookups(trace, span.from, span.settleAt, ['absent']) > 0).length,
  ),
  perIntent(
    'two absences, then a resend',
    'Two absences after the settle time allowed another request, and it was sent.',
    (trace) => resends(trace, 'absent'),
  ),
  perIntent(
    'resend under the same key',
    'Nobody could tell whether it had happened, and the key made another request safe.',
    (trace) => resends(trace, 'same_key'),
  ),
  perIntent('resend after a refusal', 'An attempt provably did not run, and the next one was sent.', (trace) =>
    resends(trace, 'not_executed'),
  ),
  perIntent(
    'late commit after an absence',
    'The effect came after the lookup had found nothing, later than the tool file says anything can.',
    (trace) => {
      const proven = trace.events.find(({ type }) => type === 'lookup_absent');
      if (!proven) return 0;
      const before = new Set(trace.attempts.filter((a) => a.startedAt < proven.committedAt).map((a) => a.attemptId));
      return trace.ledger.filter(
        (line) => line.kind === 'effect' && line.at > proven.committedAt && before.has(line.attemptId ?? ''),
      ).length;
    },
  ),
  perIntent('lookup behind the effect', 'The lookup found nothing although the effect was there.', (trace) => {
    const effect = trace.ledger.find(({ kind }) => kind === 'effect');
    return effect ? lookups(trace, effect.at, Number.POSITIVE_INFINITY, ['absent']) : 0;
  }),
  perIntent(
    'lookup failed while unknown',
    'The lookup gave an error or no answer while the outcome was open.',
    (trace) =>
      unknownSpans(trace).reduce((sum, span) => sum + lookups(trace, span.from, span.to, ['error', 'hang']), 0),
  ),
  perIntent(
    'settled by a lookup',
    'The answer was lost and the lookup found the effect.',
    (trace) => trace.events.filter(({ type, data }) => type === 'committed' && data['proof'] === 'lookup').length,
  ),
  perIntent('taken on, then polled', 'The upstream answered 202 and was asked for the end until it told.', (trace) =>
    trace.events.some(({ type }) => type === 'accepted') && trace.ledger.some(tellsTheEnd) ? 1 : 0,
  ),
  perIntent(
    'taken on, then given up',
    'The upstream answered 202 and failed later.',
    (trace) =>
      trace.events.filter(({ type, data }) => type === 'attempt_not_executed' && data['cause'] === 'operation_failed')
        .length,
  ),
  perIntent(
    'second effect told',
    'The upstream acted twice, against what its tool file says, and the log tells it.',
    (trace) => corrections(trace, 'second_effect'),
  ),
  perIntent(
    'corrected after its end',
    'Evidence came after the intent was closed or a person was asked, and the log tells it.',
    (trace) => corrections(trace, 'executed') + corrections(trace, 'partial_effect'),
  ),
  perIntent(
    'cancelled before it was sent',
    'Nothing had been sent yet, and nothing was.',
    (trace) => trace.events.filter(({ type }) => type === 'cancelled').length,
  ),
  perIntent(
    'cancelled in flight',
    'A cancel came when the request was on its way or its outcome open.',
    (trace) => trace.events.filter(({ type }) => type === 'cancel_requested').length,
  ),
  perIntent(
    'expired',
    'The authority of the run ended before it could be sent.',
    (trace) => trace.events.filter(({ type }) => type === 'expired').length,
  ),
  perIntent(
    'replayed by an operator',
    'A dead letter was taken up again.',
    (trace) => trace.events.filter(({ type }) => type === 'replay_requested').length,
  ),
  perIntent(
    'resolved by an operator',
    'A person said what had happened.',
    (trace) => trace.events.filter(({ type }) => type === 'resolved').length,
  ),
  ...Object.entries(deadLetterReasons).map(([reason, why]) =>
    perIntent(
      `dead letter: ${reason}`,
      `A person was asked: ${why}.`,
      (trace) => trace.events.filter(({ type, data }) => type === 'dead_lettered' && data['reason'] === reason).length,
    ),
  ),
];

function perIntent(name: string, meaning: string, count: (trace: IntentTrace) => number): DangerousState {
  return { name, meaning, count: ({ traces }: Evidence) => traces.reduce((sum, trace) => sum + count(trace), 0) };
}

function isLeaseEnd({ type, data }: EventRow): boolean {
  return type === 'outcome_unknown' && data['cause'] === 'lease_expired';
}

/** What only whoever sent the attempt can have told. */
function isVerdict({ type, data }: EventRow): boolean {
  if (type === 'attempt_not_executed') return data['cause'] !== 'operation_failed';
  if (type === 'committed') return data['proof'] === 'response';
  return type === 'accepted' || type === 'corrected';
}

function endedBefore({ data }: EventRow, earlier: readonly EventRow[]): boolean {
  const started = earlier.findLastIndex((e) => e.type === 'attempt_started' && e.data['attempt'] === data['attempt']);
  return started >= 0 && earlier.slice(started).some(isLeaseEnd);
}

/** Attempts that had an effect. */
function effectsOf({ attempts, ledger }: IntentTrace): AttemptTrace[] {
  const ids = new Set(ledger.flatMap((line) => (line.kind === 'effect' ? [line.attemptId] : [])));
  return attempts.filter(({ attemptId }) => ids.has(attemptId));
}

function requestsOf({ ledger }: IntentTrace): (string | null)[] {
  return ledger.flatMap((line) => (line.kind === 'request' ? [line.attemptId] : []));
}

/** From each time the outcome was unknown until it no longer was. */
function unknownSpans({ events }: IntentTrace): { from: number; to: number; settleAt: number }[] {
  return events.flatMap((event, i) => {
    if (event.type !== 'outcome_unknown' && event.type !== 'replay_requested') return [];
    const next = events
      .slice(i + 1)
      .find(({ type }) => !['lookup_absent', 'lookup_inconclusive', 'cancel_requested'].includes(type));
    const to = next?.committedAt ?? Number.POSITIVE_INFINITY;
    return { from: event.committedAt, to, settleAt: Number(event.data['settleAt']) };
  });
}

function lookups({ ledger }: IntentTrace, from: number, to: number, answers: readonly string[]): number {
  return ledger.filter(
    (line) => line.kind === 'lookup' && line.at > from && line.at < to && answers.includes(line.answer),
  ).length;
}

/** Attempts that were allowed for this reason, after an earlier one, and came off the wire. */
function resends(trace: IntentTrace, basis: string): number {
  const sent = requestsOf(trace);
  let allowed: unknown = null;
  return trace.events.filter(({ type, data }) => {
    if (type === 'authorized') allowed = data['basis'];
    return type === 'attempt_started' && allowed === basis && sent.includes(String(data['attemptId']));
  }).length;
}

function corrections({ events }: IntentTrace, finding: string): number {
  return events.filter(({ type, data }) => type === 'corrected' && data['finding'] === finding).length;
}

function tellsTheEnd(line: LedgerEntry): boolean {
  return line.kind === 'poll' && (line.answer === 'done' || line.answer === 'failed');
}
