import { describe, expect, it } from 'vitest';
import type { IntentRecord } from './intent-record.js';
import { disagreements } from './ledger-agreement.js';
import type { LedgerLine } from './upstream.js';

const mark = 'demo0a1b2c';

function intent(changes: Partial<IntentRecord> = {}): IntentRecord {
  return {
    intentId: '01JD8Q4Y6V2N7XK3T5W9ZB1CEF',
    stepId: 'refund',
    tool: 'payments.refund.create',
    effect: 'destructive',
    key: 'key-1',
    state: 'committed',
    proof: 'response',
    attemptIds: ['attempt-1'],
    answered: 'attempt-1',
    ...changes,
  };
}

function request(changes: Partial<LedgerLine> = {}): LedgerLine {
  return { kind: 'request', key: 'key-1', attemptId: 'attempt-1', ...changes };
}

function effect(changes: Partial<LedgerLine> = {}): LedgerLine {
  return { ...request(), kind: 'effect', externalId: 're_1', answer: { order_id: `ord_${mark}a` }, ...changes };
}

const lookup: LedgerLine = { kind: 'lookup', key: 'key-1', answer: 'present' };

describe('log and ledger agree', () => {
  it.each([
    ['one effect for a committed intent', intent(), [request(), effect(), lookup]],
    ['a read without an effect', intent({ effect: 'read' }), [request()]],
    ['nothing for a denied intent', intent({ state: 'denied', proof: null, attemptIds: [], answered: null }), []],
    [
      'a request without an effect for a failed intent',
      intent({ state: 'failed', proof: null, answered: null }),
      [request()],
    ],
    [
      'two attempts, one of which took effect',
      intent({ attemptIds: ['attempt-0', 'attempt-1'] }),
      [request({ attemptId: 'attempt-0' }), request(), effect()],
    ],
    [
      'an attempt that never left, of an intent found by lookup',
      intent({ proof: 'lookup', answered: null, attemptIds: ['attempt-0', 'attempt-1'] }),
      [request(), effect(), lookup],
    ],
    [
      'lines of other runs',
      intent(),
      [request(), effect(), effect({ key: 'key-9', attemptId: 'attempt-9', answer: { order_id: 'ord_other' } })],
    ],
  ])('with %s', (_, record, ledger) => {
    expect(disagreements([record], ledger, mark)).toEqual([]);
  });
});

describe('log and ledger disagree', () => {
  it.each([
    [
      'a committed intent has no effect',
      intent(),
      [request()],
      'committed by response; effects in the ledger: 0, expected: 1',
    ],
    [
      'a committed intent has two effects',
      intent(),
      [request(), effect(), effect({ externalId: 're_2' })],
      'effects in the ledger: 2, expected: 1',
    ],
    [
      'a person says that it happened and it did not',
      intent({ proof: 'operator', answered: null }),
      [request()],
      'committed by operator; effects in the ledger: 0',
    ],
    [
      'a read has an effect',
      intent({ effect: 'read' }),
      [request(), effect()],
      'effects in the ledger: 1, expected: 0',
    ],
    [
      'an attempt was on the wire twice',
      intent(),
      [request(), request(), effect()],
      'attempt attempt-1 was on the wire 2 times',
    ],
    [
      'a request went out before its attempt was recorded',
      intent(),
      [request(), request({ attemptId: 'attempt-2' }), effect()],
      'a request of attempt attempt-2, which the event log never started',
    ],
    [
      'a request carries no attempt id',
      intent(),
      [request(), request({ attemptId: null }), effect()],
      'a request of attempt null, which the event log never started',
    ],
    [
      'an attempt went out under a key of its own',
      intent({ attemptIds: ['attempt-1', 'attempt-2'] }),
      [request(), request({ key: 'key-2', attemptId: 'attempt-2' }), effect()],
      'carries the key key-2, not key-1',
    ],
    ['an answered attempt never was on the wire', intent(), [effect()], 'was answered but never on the wire'],
    ['the log does not say what happened', intent({ state: 'open', proof: null, answered: null }), [], 'open'],
    [
      'it still waits for a person',
      intent({ state: 'dead_lettered', proof: null, answered: null }),
      [request(), effect()],
      'does not say whether it happened',
    ],
    [
      'an effect of this run belongs to no intent',
      intent(),
      [request(), effect(), effect({ key: 'key-9', attemptId: 'attempt-9', externalId: 're_9' })],
      'effect re_9 under key key-9 belongs to no intent',
    ],
  ])('when %s', (_, record, ledger, sentence) => {
    expect(disagreements([record], ledger, mark).join('\n')).toContain(sentence);
  });

  it.each(['failed', 'denied', 'cancelled', 'expired'] as const)('when a %s intent has an effect', (state) => {
    const record = intent({ state, proof: null, answered: null });
    const [problem] = disagreements([record], [request(), effect()], mark);
    expect(problem).toContain(`${state}; effects in the ledger: 1, expected: 0`);
  });
});

it('names the intent in every sentence', () => {
  const other = intent({
    intentId: '01JD8Q4Y6V2N7XK3T5W9ZB1CEG',
    stepId: 'mail',
    key: 'key-2',
    attemptIds: [],
    answered: null,
  });
  const found = disagreements([intent(), other], [request(), effect()], mark);
  expect(found).toHaveLength(1);
  expect(found[0]).toContain('mail (payments.refund.create, intent 01JD8Q4Y6V2N7XK3T5W9ZB1CEG)');
});
