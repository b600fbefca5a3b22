import { type BadHistories, promising } from './bad-history.spec-helper.js';

/** Requests: when, why, and how often (I5, I6, I7). */
export const badRequests: BadHistories = {
  'a request before its attempt was committed': {
    rule: 'I5',
    says: /the request of attempt 1 arrived 15 ms before the attempt was committed/,
    change: ({ line, event }) => {
      line('plain', 'request').at = event('plain', 'attempt_started').committedAt - 15;
    },
  },
  'a request of an attempt that the log does not have': {
    rule: 'I5',
    says: /a request with attempt id made-up, and the log has no such attempt/,
    change: ({ h, line }) => {
      h.ledger.push({ ...line('plain', 'request'), ...{ attemptId: 'made-up' }, seq: 900 });
    },
  },
  'a request that no intent stands behind': {
    rule: 'I5',
    says: /a request with key made-up and attempt id made-up, and no intent has either/,
    change: ({ h, line }) => {
      h.ledger.push({ ...line('plain', 'request'), ...{ attemptId: 'made-up', key: 'made-up' }, seq: 900 });
    },
  },
  'a key of its own for an attempt': {
    rule: 'I5',
    says: /the request of attempt 2 has key key-2, and the intent has key-keyonly/,
    change: ({ line }) => {
      line('keyonly', 'request', 2).key = 'key-2';
    },
  },
  'two requests with one attempt id': {
    rule: 'I5',
    says: /2 requests with the attempt id plain-1/,
    change: ({ h, line }) =>
      h.ledger.push({ ...line('plain', 'request'), seq: 900, at: line('plain', 'request').at + 1 }),
  },
  'a request that the log says never left': {
    rule: 'I5',
    says: /a request of attempt 1, and the log says that no byte of it left/,
    change: ({ h, line, event }) => {
      h.ledger.push({
        ...line('rescued', 'request'),
        ...{ attemptId: 'rescued-1' },
        seq: 900,
        at: event('rescued', 'attempt_started').committedAt + 5,
      });
    },
  },
  'an effect that nobody asked for': {
    rule: 'I5',
    says: /effect eff-plain-1 of attempt plain-1, and no request of it/,
    change: ({ h, line, drop }) => drop(h.ledger, line('plain', 'request')),
  },
  'a resend before the first attempt had settled': {
    rule: 'I6',
    says: /a request of attempt 3 .* before an earlier one had settled \(5 s after it became unknown\)/,
    change: ({ h }) => promising(h, 'searched', 'searched', { settleMs: 5_000 }),
  },
  'a request of an attempt when the next one was on its way': {
    rule: 'I6',
    says: /a request of attempt 1 when attempt 2 had been started already/,
    change: ({ h, line, event }) => {
      // Nobody saw it leave, so nobody can say that the network held it up.
      h.sent = h.sent?.filter(({ attemptId }) => attemptId !== 'replayed-1') ?? [];
      line('replayed', 'request').at = event('replayed', 'attempt_started', 2).committedAt + 5;
    },
  },
  'a request that left after its lease had ended': {
    rule: 'I6',
    says: /id-plain of keyed: attempt 1 was sent 10 ms after its lease had ended/,
    change: ({ h, event }) => {
      const left = h.sent?.find(({ attemptId }) => attemptId === 'plain-1');
      Object.assign(left ?? {}, { at: Number(event('plain', 'attempt_started').data['leaseUntil']) + 10 });
    },
  },
  'a resend after a lookup that failed': {
    rule: 'I7',
    says: /attempt 3 was sent again after 1 absence told by the upstream since it had settled, two are needed/,
    change: ({ line }) => {
      Object.assign(line('searched', 'lookup', 3), { answer: 'hang' });
    },
  },
  'a resend after absences that prove nothing': {
    rule: 'I7',
    says: /an absence in the lookup of its tool proves nothing/,
    change: ({ h }) => promising(h, 'replayed', 'searched', { authoritative: false }),
  },
  'a resend after absences that were too close': {
    rule: 'I7',
    says: /absences that were 5\d\d ms apart, 900 ms are declared/,
    change: ({ h }) => promising(h, 'replayed', 'searched', { spacingMs: 900 }),
  },
  'a resend where nothing can show that it is safe': {
    rule: 'I7',
    says: /although nothing can show that a resend is safe \(none\)/,
    change: ({ h }) => promising(h, 'replayed', 'searched', { guarantee: 'none' }),
  },
  'a resend after the key may have been forgotten': {
    rule: 'I7',
    says: /attempt 2 was sent after the upstream may have forgotten its key \(10 ms after the first attempt\)/,
    change: ({ h }) => promising(h, 'keyonly', 'keyonly', { retentionMs: 10, settleMs: 20 }),
  },
};
