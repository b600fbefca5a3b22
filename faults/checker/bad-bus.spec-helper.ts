import { announced, type BadHistories } from './bad-history.spec-helper.js';

/** What was published (I9, I12). */
export const badPublications: BadHistories = {
  'a message that is still in the outbox': {
    rule: 'I9',
    says: /: 1 message still in the outbox/,
    change: ({ h }) => h.database.outbox.push({ msgId: 'm', subject: 's', payload: '{}' }),
  },
  'an event that was never published': {
    rule: 'I9',
    says: /id-found of searched: committed, version 6, is not in the stream/,
    change: ({ h, published, drop }) => drop(h.bus.published, published('found', 'committed')),
  },
  'an event that was heard and not stored': {
    rule: 'I9',
    says: /is not in the stream, though it was heard/,
    change: ({ published }) => {
      published('found', 'committed').stored = false;
    },
  },
  'a published event that the log does not have': {
    rule: 'I9',
    says: /dead_lettered with id id-plain-9 was published: the log has no version 9/,
    change: ({ h }) => h.bus.published.push(announced('plain', 'dead_lettered', 9)),
  },
  'a published event of another type than the log has': {
    rule: 'I9',
    says: /outcome_unknown with id id-plain-4 was published: version 4 of the log is committed/,
    change: ({ h }) => h.bus.published.push(announced('plain', 'outcome_unknown', 4)),
  },
  'a published event of an intent that is not there': {
    rule: 'I9',
    says: /was published, and there is no intent id-nobody/,
    change: ({ h }) => h.bus.published.push(announced('nobody', 'dead_lettered', 4)),
  },
  'a second message id for the same event': {
    rule: 'I9',
    says: /its id should be id-blind-5/,
    change: ({ h, published }) => h.bus.published.push({ ...published('blind', 'dead_lettered'), msgId: 'id-blind' }),
  },
  'a subject that is not that of its run': {
    rule: 'I9',
    says: /its subject is intendant\.events\.other/,
    change: ({ published }) => {
      published('found', 'committed').subject = 'intendant.events.other';
    },
  },
  'progress of an attempt that was never started': {
    rule: 'I9',
    says: /there is no such attempt/,
    change: ({ published }) => {
      published('constant', 'progress').msgId = 'id-constant-progress-2';
    },
  },
  'one event in the stream twice': {
    rule: 'I9',
    says: /id-blind-4 is in the stream 2 times/,
    change: ({ h, published }) => h.bus.published.push({ ...published('blind', 'outcome_unknown') }),
  },
  'an end that is told twice': {
    rule: 'I12',
    says: /id-found-6 is in the stream 2 times/,
    change: ({ h, published }) => h.bus.published.push({ ...published('found', 'committed') }),
  },
};
