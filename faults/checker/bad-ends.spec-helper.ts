import type { History } from '../history/history.js';
import { announced, type BadHistories } from './bad-history.spec-helper.js';
import { begun, unknown } from './good-history.spec-helper.js';
import { type Editable, HistoryWriter, type IntentWriter, type ToolName } from './history.spec-helper.js';

/** Ends without the grounds that they give (I3). */
export const badEnds: BadHistories = {
  'a refusal by an upstream that was never asked': {
    rule: 'I3',
    says: /failed for upstream_rejected, and nothing was ever on the wire/,
    change: ({ h, line, drop }) => drop(h.ledger, line('refused', 'request')),
  },
  'a cancel that nobody asked for': {
    rule: 'I3',
    says: /cancelled for by ada, and nobody asked for that/,
    change: ({ h }) => {
      for (const entry of h.clients) if (entry.operation === 'cancel') entry.operation = 'get';
    },
  },
  'a missing adapter that was there': {
    rule: 'I3',
    says: /dead_lettered for adapter_missing, and it was sent/,
    of: () => asked('blind', 'adapter_missing', (intent) => intent),
    change: ({ h, event }) => {
      const { committedAt: at } = event('one', 'attempt_started');
      const { fingerprint: argsHash, key } = h.database.intents[0] ?? {};
      h.ledger.push({
        ...{ kind: 'request', method: 'POST', path: '/effects/x', seq: 900, at: at + 1 },
        ...{ key: key ?? null, attemptId: 'one-1', argsHash: argsHash ?? '' },
      });
    },
  },
  'a person who is asked although the lookup can tell': {
    rule: 'I3',
    says: /dead_lettered for no_way_to_tell, and the lookup of its tool can tell/,
    change: ({ h }) => Object.assign(h.meta.tools['blind'] ?? {}, { authoritative: true }),
  },
  'attempts that are not used up': {
    rule: 'I3',
    says: /dead_lettered for attempts_exhausted, and there was 1 attempt of 3/,
    of: () =>
      asked('searched', 'attempts_exhausted', (intent) => intent.event('outcome_unknown', unknown()), {
        maxAttempts: 1,
      }),
    change: ({ h }) => Object.assign(h.meta.tools['searched'] ?? {}, { maxAttempts: 3 }),
  },
  'a poll of what was never taken on': {
    rule: 'I3',
    says: /dead_lettered for poll_deadline, and its upstream never took it on/,
    of: () => asked('keyed', 'poll_deadline', (intent) => intent.event('accepted', { attempt: 1, data: {} })),
    change: ({ h, event }) => {
      Object.assign(event('one', 'accepted'), { type: 'outcome_unknown', data: unknown() });
      h.bus.published.push(announced('one', 'outcome_unknown', 4));
    },
  },
  'a key that is known for long': {
    rule: 'I3',
    says: /dead_lettered for key_retention_passed, and its key is known for .* longer than an attempt takes/,
    of: () =>
      asked('keyonly', 'key_retention_passed', (intent) => intent.event('outcome_unknown', unknown()), {
        retentionMs: 5_000,
      }),
    change: ({ h }) => Object.assign(h.meta.tools['keyonly'] ?? {}, { retentionMs: 60_000 }),
  },
  'a deadline of lookups that were all answered': {
    rule: 'I3',
    says: /dead_lettered for lookup_deadline, and its lookup was always answered/,
    of: () =>
      asked('searched', 'lookup_deadline', (intent) => intent.event('outcome_unknown', unknown()).asked('error')),
    change: ({ line }) => Object.assign(line('one', 'lookup'), { answer: 'absent' }),
  },
};

/** One intent, `one`, that a person is asked about. */
function asked(
  tool: ToolName,
  reason: string,
  before: (intent: IntentWriter) => IntentWriter,
  promise = {},
): Editable<History> {
  const writer = new HistoryWriter();
  const intent = begun(writer, 'one', tool);
  const sent =
    reason === 'adapter_missing'
      ? intent.event('attempt_not_executed', { attempt: 1, cause: 'missing' })
      : intent.request();
  before(sent).event('dead_lettered', { reason, detail: '' }).ends('dead_lettered', reason);
  const history = writer.history();
  Object.assign(history.meta.tools[tool] ?? {}, promise);
  return history;
}
