import type { LedgerEntry } from '../history/ledger.js';
import type { BadHistories } from './bad-history.spec-helper.js';
import { begun, unknown } from './good-history.spec-helper.js';
import { type Editable, HistoryWriter } from './history.spec-helper.js';

/** Effects and what was said of them (I1, I4, I11). */
export const badEffects: BadHistories = {
  'a second effect under one key': {
    rule: 'I1',
    says: /id-plain of keyed: 2 effects, at most one may be \(idempotency_key\)/,
    change: ({ h, line }) =>
      h.ledger.push({ ...line('plain', 'effect'), seq: 900, at: line('plain', 'effect').at + 1 }),
  },
  'a second effect of a tool without a guarantee, even beyond limits': {
    rule: 'I1',
    says: /2 effects, at most one may be \(none\)/,
    change: ({ h, line }) => {
      h.meta.excuses.beyondLimits.push('blind');
      h.ledger.push({ ...line('blind', 'effect'), seq: 900 });
    },
  },
  'a second effect beyond limits that no correction tells of': {
    rule: 'I1',
    says: /2 effects, and no correction tells of the second one/,
    change: ({ h, event, row, drop, published }) => {
      drop(h.database.events, event('slow', 'corrected'));
      drop(h.bus.published, published('slow', 'corrected'));
      event('slow', 'reviewed').version -= 1;
      row('slow').version -= 1;
    },
  },
  'a correction beyond limits that does not name the declaration': {
    rule: 'I1',
    says: /2 effects, and no correction names the declaration it broke/,
    change: ({ event }) => {
      event('slow', 'corrected').data['breach'] = null;
    },
  },
  'a second effect that was not excused': {
    rule: 'I1',
    says: /2 effects, at most one may be \(lookup\)/,
    change: ({ h }) => {
      h.meta.excuses.beyondLimits = [];
    },
  },
  'a commit without an effect': {
    rule: 'I4',
    says: /id-found of searched: committed, and there is no effect/,
    change: ({ h, line, drop }) => drop(h.ledger, line('found', 'effect')),
  },
  'a receipt of another effect': {
    rule: 'I4',
    says: /the receipt \(eff-plain-1\) is not that of its effect \(eff-found-1\)/,
    change: ({ event }) => {
      event('found', 'committed').data['data'] = { effect_id: 'eff-plain-1' };
    },
  },
  'a commit without a receipt': {
    rule: 'I4',
    says: /id-found of searched: committed without a receipt of its effect \(eff-found-1\)/,
    change: ({ event }) => {
      event('found', 'committed').data['data'] = null;
    },
  },
  'an end that says nothing happened, with an attempt that nobody ruled out': {
    rule: 'I4',
    says: /id-refused of keyed: failed, and attempt 1 is unknown/,
    of: unruled,
    change: ({ event }) => {
      Object.assign(event('refused', 'attempt_not_executed', 1), { type: 'lookup_inconclusive', data: {} });
    },
  },
  'an answer with the receipt of another effect': {
    rule: 'I11',
    says: /an answer to submit shows eff-found-1, which is of no effect of it/,
    change: ({ answer }) => Object.assign(answer('plain').answer ?? {}, { data: { effect_id: 'eff-found-1' } }),
  },
  'a published end with the receipt of another effect': {
    rule: 'I11',
    says: /the published end shows eff-found-1, which is of no effect of it/,
    change: ({ published }) =>
      Object.assign(published('plain', 'committed'), { data: { data: { effect_id: 'eff-found-1' } } }),
  },
  'a commit on the word of a person who said nothing': {
    rule: 'I4',
    says: /on the word of a person, and no resolution of one is in the log/,
    change: ({ row, event }) => {
      event('plain', 'committed').data['proof'] = 'operator';
      row('plain').reason = 'operator';
    },
  },
  'a commit of which parts are missing': {
    rule: 'I4',
    says: /committed, and parts of the effect are missing/,
    change: ({ line }) => {
      Object.assign(line('plain', 'effect'), { answer: { effect_id: 'eff-plain-1', part: 1, parts: 2 } });
    },
  },
  'a read with an effect': {
    rule: 'I4',
    says: /a read had 1 effect$/,
    change: ({ h, line }) => h.ledger.push(effectOf(line('reading', 'request'))),
  },
  'a correction of something that did not happen': {
    rule: 'I4',
    says: /a correction says second_effect, and there is no effect|a second effect, and there is one only/,
    change: ({ h, line, drop }) => drop(h.ledger, line('slow', 'effect', 2)),
  },
  'a dead letter that says nothing happened, when it did': {
    rule: 'I4',
    says: /a dead letter that says nothing happened so far, and there is 1 effect/,
    of: exhausted,
    change: ({ h, line }) => h.ledger.push(effectOf(line('gone', 'request'))),
  },
  'an attempt that is recorded as not executed, and took effect': {
    rule: 'I4',
    says: /attempt 1 is recorded as not executed \(lease_over\), and it had effect eff-rescued-2/,
    change: ({ h, line, event }) => {
      // Sent after all, at the time the log says; the second attempt was answered from the first.
      h.ledger.push({
        ...line('rescued', 'request'),
        ...{ attemptId: 'rescued-1' },
        seq: 900,
        at: event('rescued', 'attempt_started').committedAt + 5,
      });
      event('rescued', 'attempt_not_executed').data['sent'] = true;
      Object.assign(line('rescued', 'effect'), { attemptId: 'rescued-1' });
    },
  },
  'an answer "not executed" before an effect': {
    rule: 'I11',
    says: /an answer to submit said that it did not happen, .* before effect eff-searched-3/,
    change: ({ answer }) =>
      Object.assign(answer('searched').answer ?? {}, { status: 'failed', outcome: 'not_executed' }),
  },
  'an answer "not executed" after an effect': {
    rule: 'I11',
    says: /an answer to get said that it did not happen, .* after effect eff-keyonly-1/,
    change: ({ answer }) => Object.assign(answer('keyonly').answer ?? {}, { status: 'expired', outcome: null }),
  },
  'an answer "executed" without an effect': {
    rule: 'I11',
    says: /an answer to submit said that it was executed, and there is no effect/,
    change: ({ answer }) => Object.assign(answer('refused').answer ?? {}, { status: 'committed', outcome: 'executed' }),
  },
  'an answer "executed" before the effect': {
    rule: 'I11',
    says: /an answer to submit said that it was executed, and the effect came .* later/,
    change: ({ answer }) =>
      Object.assign(answer('searched').answer ?? {}, { status: 'committed', outcome: 'executed' }),
  },
};

/** What a request may have done. */
function effectOf(line: LedgerEntry): Editable<LedgerEntry> {
  if (line.kind !== 'request') throw new Error('only a request has an effect');
  const { method: _, ...same } = line;
  return { ...same, kind: 'effect', externalId: 'eff-unseen', seq: 900 };
}

/** A first attempt that is ruled out later, and a second one that is refused. */
function unruled() {
  const writer = new HistoryWriter();
  begun(writer, 'refused', 'keyed')
    .request()
    .event('outcome_unknown', unknown())
    .event('attempt_not_executed', { attempt: 1, cause: 'http_400', detail: '' })
    .event('failed', { failure: { code: 'upstream_rejected' } })
    .ends('failed', 'upstream_rejected');
  return writer.history();
}

/** One intent that was given up after two absences, at the only attempt it had. */
function exhausted() {
  const writer = new HistoryWriter();
  begun(writer, 'gone', 'searched')
    .request()
    .event('outcome_unknown', unknown())
    .event('lookup_absent', { absences: 1, dueAt: 0 })
    .event('lookup_absent', { absences: 2, dueAt: 0 })
    .event('dead_lettered', { reason: 'attempts_exhausted', detail: '' })
    .ends('dead_lettered', 'attempts_exhausted');
  const history = writer.history();
  Object.assign(history.meta.tools['searched'] ?? {}, { maxAttempts: 1 });
  return history;
}
