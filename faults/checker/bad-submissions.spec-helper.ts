import { type BadHistories, conflict, told } from './bad-history.spec-helper.js';

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
  'two intents for the same submit': {
    rule: 'I2',
    says: /the same submit of plain was answered with 2 intents: id-plain, id-denied/,
    change: ({ h, answer }) => {
      h.clients.push({ ...answer('plain'), requestId: 'r', ...told('id-denied') });
    },
  },
  'two intents of one step': {
    rule: 'I2',
    says: /step step-plain of keyed has two intents, id-plain as well/,
    change: ({ row, event }) => {
      row('expired').stepId = 'step-plain';
      (event('expired', 'recorded').data['proposal'] as { stepId: string }).stepId = 'step-plain';
    },
  },
  'two bodies under one step on the wire': {
    rule: 'I10',
    says: /requests with 2 different bodies on the wire/,
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
