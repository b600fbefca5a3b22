import type { BadHistories } from './bad-history.spec-helper.js';

/** The log, its rows, and what is left when everything is quiet (I3, I8, I13, I14). */
export const badLogs: BadHistories = {
  'an intent that is still unknown': {
    rule: 'I3',
    says: /id-blind of blind: still unknown 20 s after healing, since .* before the end/,
    change: ({ h, row, event, drop, published }) => {
      drop(h.database.events, event('blind', 'dead_lettered'));
      drop(h.bus.published, published('blind', 'dead_lettered'));
      Object.assign(row('blind'), { state: 'unknown', version: 4, reason: 'reset_after_send' });
    },
  },
  'a dead letter without a reason': {
    rule: 'I3',
    says: /a dead letter with no reason/,
    change: ({ row, event }) => {
      row('blind').reason = null;
      event('blind', 'dead_lettered').data['reason'] = null;
    },
  },
  'a dead letter for a reason that nobody knows': {
    rule: 'I3',
    says: /the unknown reason tired/,
    change: ({ row, event }) => {
      row('blind').reason = 'tired';
      event('blind', 'dead_lettered').data['reason'] = 'tired';
    },
  },
  'a version that is missing': {
    rule: 'I8',
    says: /version 4 of its log is missing or there twice: found 5 in its place/,
    change: ({ h, event, drop }) => drop(h.database.events, event('found', 'cancel_requested')),
  },
  'an event after a terminal one': {
    rule: 'I8',
    says: /version 4: authorized must not come in state expired/,
    change: ({ h, row, event }) => {
      h.database.events.push({ ...event('expired', 'expired'), version: 4, type: 'authorized' });
      row('expired').version = 4;
    },
  },
  'a row that says something else than its log': {
    rule: 'I8',
    says: /its row says attempts 2, its log 1/,
    change: ({ row }) => {
      row('plain').attempts = 2;
    },
  },
  'a row without a log': {
    rule: 'I8',
    says: /a row, and no events/,
    change: ({ h, row }) => h.database.intents.push({ ...row('expired'), id: 'id-new', key: 'key-new', stepId: 'new' }),
  },
  'a log without a row': {
    rule: 'I8',
    says: /3 events, and no row/,
    change: ({ h, row, drop }) => drop(h.database.intents, row('expired')),
  },
  'one attempt id in two intents': {
    rule: 'I8',
    says: /attempt id blind-1 was given twice/,
    change: ({ h, event, drop, line }) => {
      drop(h.ledger, line('resolved', 'request'));
      event('resolved', 'attempt_started').data['attemptId'] = 'blind-1';
      // The lines of that id are those of the later intent now; they are left out to look at the log alone.
      drop(h.ledger, line('blind', 'request'), line('blind', 'effect'));
    },
  },
  'a message that is not acknowledged': {
    rule: 'I13',
    says: /consumer dispatcher of INTENDANT_WORK has 1 not acknowledged and 2 not delivered/,
    change: ({ h }) => Object.assign(h.bus.consumers[0] ?? {}, { ackPending: 1, pending: 2 }),
  },
  'a session that sits in a transaction': {
    rule: 'I13',
    says: /1 of 3 sessions of dispatcher in a transaction/,
    change: ({ h }) => Object.assign(h.database.sessions[0] ?? {}, { inTransaction: 1 }),
  },
  'a process that is gone': {
    rule: 'I13',
    says: /dispatcher\/0 is stopped, and should be running/,
    change: ({ h }) => Object.assign(h.processes[0] ?? {}, { found: 'stopped' }),
  },
  'a process that ended by itself': {
    rule: 'I13',
    says: /dispatcher\/0 ended by itself 1 time/,
    change: ({ h }) => Object.assign(h.processes[0] ?? {}, { crashes: 1, errors: ['out of memory'] }),
  },
  'an intent that settled too late': {
    rule: 'I14',
    says: /id-slow of searched: committed 10\.1 s after healing, 10 s is the bound/,
    change: ({ h, event }) => {
      event('slow', 'committed').committedAt = h.meta.healedAt + 10_100;
      event('slow', 'corrected').committedAt = h.meta.healedAt + 10_200;
    },
  },
};
