import type { History } from '../history/history.js';
import { type Editable, HistoryWriter, type IntentWriter, type ToolName } from './history.spec-helper.js';

/** A round in which everything is met that the product can do, and every promise is kept. */
export function goodHistory(): Editable<History> {
  const writer = new HistoryWriter();
  writer.fault('pause', 'dispatcher/0');
  simple(writer);
  admission(writer);
  approvals(writer);
  unknowns(writer);
  writer.fault('pause', 'dispatcher/0', 'end');
  people(writer);
  oddities(writer);
  beyondLimits(writer);
  return writer.history();
}

/** An intent whose first attempt is recorded. */
export function begun(writer: HistoryWriter, ref: string, tool: ToolName): IntentWriter {
  return writer.intent(ref, tool).recorded().authorized().started();
}

export function committed(attempt: number | null, receipt: string, proof = 'response') {
  return { proof, attempt, data: { effect_id: receipt } };
}

export function unknown(cause = 'call_timeout') {
  return { cause, detail: 'said nothing', settleAt: 0, dueAt: 0, deadline: 0 };
}

/** What answers at once, over every way in. */
function simple(writer: HistoryWriter): void {
  begun(writer, 'plain', 'keyed')
    .request()
    .effect()
    .event('committed', committed(1, 'eff-plain-1'))
    .told('submit', 'committed', 'executed')
    .told('submit', 'committed', 'executed', true)
    .call('submit', { httpStatus: 422, code: 'idempotency_conflict' }, { argsHash: 'args-other' })
    .ends('committed', 'response');
  writer
    .intent('published', 'keyed', null)
    .call('submit', {}, { via: 'nats_publish' })
    .recorded()
    .authorized()
    .started()
    .request()
    .effect()
    .event('committed', committed(1, 'eff-published-1'))
    .ends('committed', 'response');
  begun(writer, 'reading', 'read')
    .request()
    .event('attempt_not_executed', { attempt: 1, cause: 'call_timeout', detail: '' })
    .authorized('not_executed')
    .started()
    .request()
    .event('committed', { proof: 'response', attempt: 2, data: { order_id: 'ord_1' } })
    .told('get', 'committed', 'executed')
    .ends('committed', 'response');
}

/** What never gets far. */
function admission(writer: HistoryWriter): void {
  writer
    .intent('denied', 'keyed')
    .recorded()
    .event('denied', { failure: { code: 'permission_denied' } })
    .told('submit', 'denied', 'not_executed')
    .ends('denied', 'permission_denied');
  writer
    .intent('cancelled', 'keyed')
    .call('submit', null)
    .recorded()
    .authorized()
    .event('cancelled', { by: 'ada' })
    .told('cancel', 'cancelled', 'not_executed')
    .ends('cancelled', 'by ada');
  writer.intent('expired', 'keyed').recorded().authorized().event('expired').ends('expired', null);
  begun(writer, 'refused', 'keyed')
    .request()
    .event('attempt_not_executed', { attempt: 1, cause: 'http_400', detail: '' })
    .event('failed', { failure: { code: 'upstream_rejected' } })
    .told('submit', 'failed', 'not_executed')
    .ends('failed', 'upstream_rejected');
}

/** What people are asked about, with all that they can answer. */
function approvals(writer: HistoryWriter): void {
  writer
    .intent('agreed', 'keyed')
    .recorded()
    .requested('d1', { quorum: 2 })
    .approved('erin')
    .approved('frank')
    .event('approval_withdrawn', { by: 'frank' })
    .approved('Grace')
    .call('approve', { httpStatus: 200, intentId: 'id-agreed' })
    .authorized('approved')
    .started()
    .request()
    .effect()
    .event('committed', committed(1, 'eff-agreed-1'))
    .ends('committed', 'response');
  writer
    .intent('changed', 'keyed')
    .recorded()
    .requested()
    .approved('erin')
    .authorized('approved')
    .requested('d2', { differs: ['the tool file'] })
    .authorized('approved')
    .started()
    .request()
    .effect()
    .event('committed', committed(1, 'eff-changed-1'))
    .ends('committed', 'response');
  writer
    .intent('turned-down', 'keyed')
    .recorded()
    .requested()
    .approved('erin')
    .authorized('approved')
    .event('refused', { by: 'frank', reason: 'no' })
    .event('denied', { failure: { code: 'approval_refused' } })
    .call('refuse', { httpStatus: 200, intentId: 'id-turned-down', status: 'denied', outcome: 'not_executed' })
    .ends('denied', 'approval_refused');
  writer
    .intent('lapsed', 'keyed')
    .recorded()
    .requested('d1', { ttlMs: 100 })
    .after(200)
    .event('denied', { failure: { code: 'approval_expired' } })
    .ends('denied', 'approval_expired');
  // What may have run is completed, whatever the time.
  writer
    .intent('completed', 'searched')
    .recorded()
    .requested('d1', { ttlMs: 1_000 })
    .approved('erin')
    .authorized('approved')
    .started()
    .request()
    .event('outcome_unknown', unknown())
    .ruledOut()
    .authorized('absent')
    .started()
    .request()
    .effect()
    .event('committed', committed(2, 'eff-completed-2'))
    .ends('committed', 'response');
  writer
    .intent('waiting', 'keyed')
    .recorded()
    .requested('d1', { ttlMs: 3_600_000 })
    .ends('awaiting_approval', 'approval');
}

/** Outcomes that nobody knew at first. */
function unknowns(writer: HistoryWriter): void {
  begun(writer, 'searched', 'searched')
    .request()
    .event('outcome_unknown', unknown())
    .told('submit', 'unknown', 'unknown')
    .asked('error')
    .event('lookup_inconclusive', { detail: 'http_500', dueAt: 0 })
    .ruledOut()
    .authorized('absent')
    .started()
    .event('attempt_not_executed', { attempt: 2, cause: 'connect_refused', detail: '', sent: false })
    .authorized('absent')
    .started()
    .request()
    .effect()
    .event('committed', committed(3, 'eff-searched-3'))
    .asked('present')
    .event('reviewed', { detail: 'one effect' })
    .ends('committed', 'response');
  begun(writer, 'keyonly', 'keyonly')
    .request()
    .effect()
    .event('outcome_unknown', unknown('lease_expired'))
    .authorized('same_key')
    .started()
    .request()
    .event('committed', committed(2, 'eff-keyonly-1'))
    .told('get', 'committed', 'executed')
    .ends('committed', 'response');
  begun(writer, 'found', 'searched')
    .request()
    .effect()
    .event('cancel_requested', { by: 'ada' })
    .event('outcome_unknown', unknown('aborted'))
    .asked('present')
    .event('committed', committed(1, 'eff-found-1', 'lookup'))
    .ends('committed', 'lookup');
  begun(writer, 'later', 'keyed')
    .request()
    .event('accepted', { attempt: 1, data: {}, dueAt: 0, deadline: 0 })
    .asked('queued', 'poll')
    .event('lookup_inconclusive', { detail: 'queued', dueAt: 0 })
    .effect()
    .asked('done', 'poll')
    .event('committed', committed(1, 'eff-later-1', 'poll'))
    .ends('committed', 'poll');
  begun(writer, 'rescued', 'searched')
    .event('outcome_unknown', unknown('lease_expired'))
    .event('attempt_not_executed', { attempt: 1, cause: 'lease_over', detail: '', sent: false })
    .authorized('not_executed')
    .started()
    .request()
    .effect()
    .event('committed', committed(2, 'eff-rescued-2'))
    .ends('committed', 'response');
}

/** What only a person settles. */
function people(writer: HistoryWriter): void {
  begun(writer, 'blind', 'blind')
    .request()
    .effect()
    .event('outcome_unknown', unknown('reset_after_send'))
    .event('dead_lettered', { reason: 'no_way_to_tell', detail: '' })
    .told('get', 'dead_lettered', 'unknown')
    .ends('dead_lettered', 'no_way_to_tell');
  begun(writer, 'resolved', 'blind')
    .request()
    .event('outcome_unknown', unknown('reset_after_send'))
    .event('dead_lettered', { reason: 'no_way_to_tell', detail: '' })
    .event('resolved', { by: 'ada', outcome: 'executed', externalId: 'x', evidence: 'saw it' })
    .event('committed', { proof: 'operator', attempt: null, data: { externalId: 'x', evidence: 'saw it' } })
    .told('resolve', 'committed', 'executed')
    .ends('committed', 'operator');
  begun(writer, 'replayed', 'searched')
    .request()
    .event('outcome_unknown', unknown())
    .event('dead_lettered', { reason: 'lookup_deadline', detail: '' })
    .event('replay_requested', { by: 'ada', reason: 'again' })
    .ruledOut()
    .authorized('absent')
    .started()
    .request()
    .effect()
    .event('committed', committed(2, 'eff-replayed-2'))
    .ends('committed', 'response');
}

function oddities(writer: HistoryWriter): void {
  begun(writer, 'partial', 'searched')
    .request()
    .effect(1, 'eff-partial-1_1', { effect_id: 'eff-partial-1', part: 1, parts: 3 })
    .effect(1, 'eff-partial-1_2', { effect_id: 'eff-partial-1', part: 2, parts: 3 })
    .event('outcome_unknown', unknown())
    .event('dead_lettered', { reason: 'partial_effect', detail: '2 of 3' })
    .ends('dead_lettered', 'partial_effect');
  begun(writer, 'constant', 'keyed')
    .publish('progress', 3, 'id-constant-progress-1')
    .request()
    .effect(1, 'eff-constant-1', { effect_id: 'eff_same' })
    .event('committed', committed(1, 'eff_same'))
    .ends('committed', 'response');
  begun(writer, 'late', 'keyonly')
    .request()
    .effect()
    .event('outcome_unknown', unknown('lease_expired'))
    .authorized('same_key')
    .event('corrected', { attempt: 1, finding: 'executed', data: { effect_id: 'eff-late-1' } })
    .event('committed', committed(1, 'eff-late-1'))
    .ends('committed', 'response');
}

/** The upstream takes longer than it declares, so that a second effect cannot be prevented; it is told. */
function beyondLimits(writer: HistoryWriter): void {
  writer.excuses.beyondLimits.push('slow');
  begun(writer, 'slow', 'searched')
    .request()
    .event('outcome_unknown', unknown())
    .ruledOut()
    .authorized('absent')
    .started()
    .request()
    .effect()
    .event('committed', committed(2, 'eff-slow-2'))
    .effect(1)
    .event('corrected', { attempt: null, finding: 'second_effect', data: {}, breach: 'max_processing' })
    .event('reviewed', { detail: '1 more than asked for' })
    .ends('committed', 'response');
}
