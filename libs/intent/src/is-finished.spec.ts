import { describe, expect, it } from 'vitest';
import type { EventType } from './events.js';
import { isFinished } from './is-finished.js';

const log = (types: readonly EventType[]): EventType[] => ['recorded', 'authorized', 'attempt_started', ...types];
const again = ['authorized', 'attempt_started'] as const;

describe('nothing can follow', () => {
  it.each<[string, EventType[]]>([
    ['a success', ['committed']],
    ['a lost answer of the only attempt, which was found', ['outcome_unknown', 'committed']],
    ['what the upstream took on and has done', ['accepted', 'committed']],
    ['a refusal', ['attempt_not_executed', 'failed']],
    ['what was refused once and then done', ['attempt_not_executed', ...again, 'committed']],
  ])('%s', (_, types) => {
    expect(isFinished(log(types), 'destructive')).toBe(true);
    expect(isFinished(log(types.slice(0, -1)), 'destructive')).toBe(false);
  });

  it.each<EventType>(['cancelled', 'denied', 'expired'])('what was never sent and %s', (type) => {
    expect(isFinished(['recorded', 'authorized', type], 'write')).toBe(true);
  });

  it('a read, whatever became of its attempts', () => {
    expect(isFinished(log(['outcome_unknown', ...again, 'attempt_not_executed', 'failed']), 'read')).toBe(true);
  });
});

describe('late evidence can follow', () => {
  it.each<[string, EventType[]]>([
    ['what a person has closed as not executed', ['outcome_unknown', 'dead_lettered', 'resolved', 'failed']],
    ['what was refused after it had been in doubt', ['outcome_unknown', 'attempt_not_executed', 'failed']],
    ['what the upstream gave up after it had taken it on', ['accepted', 'attempt_not_executed', 'failed']],
    ['a resend after absences', ['outcome_unknown', 'lookup_absent', ...again, 'committed']],
    [
      'an effect that a person has found after an absence',
      ['outcome_unknown', 'lookup_absent', 'resolved', 'committed'],
    ],
    ['a correction: there may be another', ['outcome_unknown', 'resolved', 'failed', 'corrected']],
  ])('%s', (_, types) => {
    expect(isFinished(log(types), 'destructive')).toBe(false);
  });
});
