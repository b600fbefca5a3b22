import { type BadHistories, conflict, told } from './bad-history.spec-helper.js';
import { HistoryWriter } from './history.spec-helper.js';

const notFound = {
  answer: { httpStatus: 404, intentId: null, status: null, code: 'not_found', outcome: null, replayed: false },
};

/** Two calls without a step that are two. */
function twice() {
  const writer = new HistoryWriter();
  for (const ref of ['published', 'again']) {
    writer
      .intent(ref, 'keyed', null)
      .call('submit', {}, { via: 'nats_publish' })
      .recorded()
      .authorized()
      .event('expired')
      .ends('expired', null);
  }
  return writer.history();
}

/** What clients asked for and were told (I2, I10). */
export const badSubmissions: BadHistories = {
  'an answered submit without a row': {
    rule: 'I2',
    says: /answered with intent id-nowhere, and there is no row of it/,
    change: ({ h, answer }) => {
      h.clients.push({ ...answer('refused'), requestId: 'r', ref: 'lost', stepId: 'lost', ...told('id-nowhere') });
    },
  },
  'a submit that is answered 202 without an intent': {
    rule: 'I2',
    says: /the submit of lost was answered 202 without an intent/,
    change: ({ h, answer }) => {
      h.clients.push({ ...answer('refused'), requestId: 'r', ref: 'lost', stepId: 'lost', ...told(null) });
    },
  },
  'an acknowledged submission without an intent': {
    rule: 'I2',
    says: /the submission of lost was acknowledged, and there is neither an intent nor a dead message/,
    change: ({ h, answer }) => {
      h.clients.push({ ...answer('published'), requestId: 'r', ref: 'lost', stepId: 'lost' });
    },
  },
  'an answer with an intent of another call': {
    rule: 'I2',
    says: /the submit of refused was answered with intent id-denied, which is denied/,
    change: ({ answer }) => Object.assign(answer('refused'), told('id-denied')),
  },
  'an intent that its client was told of, and that nobody knows any more': {
    rule: 'I2',
    says: /the get of keyonly was answered 404, and its client had been told of the intent/,
    change: ({ answer }) => Object.assign(answer('keyonly'), notFound),
  },
  'two intents of the same arguments without a step': {
    rule: 'I2',
    says: /the same arguments without a step of keyed has two intents, id-published as well/,
    of: twice,
    change: ({ h, row, event }) => {
      row('again').fingerprint = row('published').fingerprint;
      Object.assign(event('again', 'recorded').data['proposal'] as object, {
        fingerprint: row('published').fingerprint,
        args: { ref: 'published' },
      });
      for (const entry of h.clients) if (entry.ref === 'again') entry.ref = 'published';
      for (const entry of h.clients) if (entry.argsHash !== null) entry.argsHash = row('published').fingerprint;
    },
  },
  'two intents of one step': {
    rule: 'I2',
    says: /step step-plain of keyed has two intents, id-plain as well/,
    change: ({ row, event }) => {
      const { stepId, fingerprint } = row('plain');
      Object.assign(row('expired'), { stepId, fingerprint });
      Object.assign(event('expired', 'recorded').data['proposal'] as object, {
        stepId,
        fingerprint,
        args: { ref: 'plain' },
      });
    },
  },
  'an effect of other arguments': {
    rule: 'I10',
    says: /an effect of attempt plain-1 has other arguments than were recorded/,
    change: ({ line }) => {
      Object.assign(line('plain', 'effect'), { argsHash: 'other' });
    },
  },
  'a record of other arguments than were asked for': {
    rule: 'I10',
    says: /id-expired of keyed: recorded with arguments that nobody asked for/,
    change: ({ h, answer }) => {
      h.clients.push({
        ...answer('plain'),
        requestId: 'r',
        ref: 'expired',
        stepId: 'step-expired',
        ...told('id-expired'),
      });
    },
  },
  'two bodies under one step on the wire': {
    rule: 'I10',
    says: /a request of attempt keyonly-2 has other arguments than were recorded/,
    change: ({ line }) => {
      Object.assign(line('keyonly', 'request', 2), { argsHash: 'body-other' });
    },
  },
  'a conflict that was taken': {
    rule: 'I10',
    says: /step step-plain was taken with 2 different sets of arguments/,
    change: ({ answer }) => Object.assign(answer('plain', 3), told('id-plain')),
  },
  'a conflict where there is none': {
    rule: 'I10',
    says: /step step-refused was answered with a conflict, and it came with one set of arguments only/,
    change: ({ answer }) => Object.assign(answer('refused'), conflict),
  },
  'the same arguments taken and called a conflict': {
    rule: 'I10',
    says: /step step-plain was taken and called a conflict with the same arguments/,
    change: ({ answer }) => Object.assign(answer('plain', 2), conflict),
  },
};
