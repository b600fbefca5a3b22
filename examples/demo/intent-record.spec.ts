import { expect, it } from 'vitest';
import { recordOf } from './intent-record.js';
import type { TimelineEvent } from './timeline-event.js';

type Fact = Partial<TimelineEvent> & { readonly type: string };

const recorded: Fact = {
  type: 'recorded',
  proposal: {
    intentId: '01JD8Q4Y6V2N7XK3T5W9ZB1CEF',
    stepId: 'refund',
    tool: 'payments.refund.create',
    user: 'ada',
    args: {},
    injected: {},
    dropped: [],
    key: 'key-1',
    terms: { effect: 'destructive' },
  },
};
const started = (attempt: number): Fact => ({ type: 'attempt_started', attempt, attemptId: `attempt-${attempt}` });

function read(...facts: Fact[]) {
  return recordOf(facts.map((fact, i) => ({ version: i + 1, at: '2026-01-01T00:00:00.000Z', ...fact })));
}

it('takes every started attempt and the one whose answer was the proof', () => {
  const record = read(recorded, started(1), { type: 'outcome_unknown' }, started(2), {
    type: 'committed',
    proof: 'response',
    attempt: 2,
  });
  expect(record).toMatchObject({
    state: 'committed',
    proof: 'response',
    attemptIds: ['attempt-1', 'attempt-2'],
    answered: 'attempt-2',
  });
});

it('has no answered attempt where a lookup was the proof', () => {
  const record = read(
    recorded,
    started(1),
    { type: 'outcome_unknown' },
    { type: 'committed', proof: 'lookup', attempt: 1 },
  );
  expect(record).toMatchObject({ state: 'committed', proof: 'lookup', answered: null });
});

it('is open as long as no event has settled it', () => {
  expect(read(recorded, { type: 'authorized' }, started(1))).toMatchObject({ state: 'open', proof: null });
});

it('is open again when a dead letter is taken up', () => {
  const dead: Fact = { type: 'dead_lettered' };
  expect(read(recorded, started(1), dead).state).toBe('dead_lettered');
  expect(read(recorded, started(1), dead, { type: 'replay_requested' }).state).toBe('open');
});

it('stays what it was when evidence comes late', () => {
  expect(read(recorded, started(1), { type: 'failed' }, { type: 'corrected' }).state).toBe('failed');
});

it('refuses a history that does not begin with its proposal', () => {
  expect(() => read({ type: 'authorized' })).toThrow('must be "recorded"');
});
