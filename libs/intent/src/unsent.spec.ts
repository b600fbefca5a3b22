import { describe, expect, it } from 'vitest';
import { type Scenario, sending, sendingAgain } from './given.spec-helper.js';
import { keyed, noGuarantee, refused, replay, silence, start, verdict } from './samples.spec-helper.js';
import { countedAttempts, outcomeOf } from './state.js';

const unsent = (cause: string) => ({ ...refused(cause, true), sent: false });

/** One more try each, until none is allowed. */
function tries(cause: string, from: Scenario, count: number): Scenario {
  let scenario = from;
  for (let i = 1; i <= count; i += 1) {
    const at = i * 20_000;
    if (i > 1) scenario = scenario.when(start(i), at).accepts({ type: 'attempt_started' });
    if (i < count)
      scenario = scenario
        .when(verdict(i, unsent(cause)), at + 1)
        .accepts({ type: 'attempt_not_executed', sent: false }, { type: 'authorized' });
  }
  return scenario;
}

describe('a try that never left', () => {
  it('is no wire attempt and leaves those untouched (S13)', () => {
    const third = tries('connect_refused', sending(), 3);
    const stillOne = third.when(verdict(3, silence), 60_001).accepts({ type: 'outcome_unknown' });
    expect(stillOne.intent && countedAttempts(stillOne.intent)).toBe(2);
    expect(stillOne.intent?.attempts.filter((a) => a.sent)).toHaveLength(1);
  });

  it('is made as often as wire attempts are, then the intent fails, never as a dead letter (S13)', () => {
    tries('connect_refused', sending(), 3)
      .when(verdict(3, unsent('connect_refused')), 60_001)
      .accepts({ type: 'attempt_not_executed' }, { type: 'failed', failure: { code: 'upstream_unavailable' } });
  });

  it('after an absence does not end the intent as refused', () => {
    sendingAgain()
      .when(verdict(2, unsent('connect_refused')), 46_000)
      .accepts(
        { type: 'attempt_not_executed', sent: false },
        { type: 'outcome_unknown', cause: 'earlier_attempt_unknown' },
      );
  });
});

describe('what sends it is missing', () => {
  const missing = (terms = keyed) =>
    tries('adapter_missing', sending(terms), 3)
      .when(verdict(3, unsent('adapter_missing')), 60_001)
      .accepts({ type: 'attempt_not_executed' }, { type: 'dead_lettered', reason: 'adapter_missing' });

  it('is kept for a person, who is not told that it may have happened (S14)', () => {
    const parked = missing();
    expect(parked.intent && outcomeOf(parked.intent)).toBe('undecided');
  });

  it('is sent by a replay once it is repaired, whatever the tool guarantees: nothing was sent before (S14)', () => {
    for (const terms of [keyed, noGuarantee]) {
      missing(terms)
        .when(replay, 70_000)
        .accepts({ type: 'replay_requested' }, { type: 'authorized', basis: 'not_executed' })
        .when(start(4), 70_001)
        .accepts({ type: 'attempt_started', attempt: 4 });
    }
  });
});
