import { describe, expect, it } from 'vitest';
import { type Scenario, sending, sendingAgain, unanswered } from './given.spec-helper.js';
import {
  cancel,
  cannotTell,
  keyed,
  lookup,
  lookupOnly,
  noGuarantee,
  refused,
  replay,
  silence,
  start,
  verdict,
} from './samples.spec-helper.js';
import { countedAttempts, outcomeOf } from './state.js';
import type { Terms } from './terms.js';

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

  it('after an absence is made again without asking again: nothing has happened since', () => {
    sendingAgain()
      .when(verdict(2, unsent('circuit_open')), 46_000)
      .accepts(
        { type: 'attempt_not_executed', sent: false },
        { type: 'authorized', basis: 'absent', notBefore: 47_000, resendUntil: 3_590_000 },
      );
    sendingAgain(lookupOnly)
      .when(verdict(2, unsent('circuit_open')), 46_000)
      .accepts({ type: 'attempt_not_executed' }, { type: 'authorized', basis: 'absent', resendUntil: null });
  });

  it('under a remembered key is made again as long as the key will be remembered', () => {
    const again = (terms: Terms) =>
      unanswered({ ...terms, lookup: 'none' })
        .when(lookup(cannotTell, 38_000), 38_000)
        .accepts({ type: 'authorized', basis: 'same_key' })
        .when(start(2), 39_000)
        .accepts({ type: 'attempt_started' });
    again(keyed)
      .when(verdict(2, unsent('circuit_open')), 40_000)
      .accepts({ type: 'attempt_not_executed' }, { type: 'authorized', basis: 'same_key' });
    again({ ...keyed, retentionMs: 50_000 })
      .when(verdict(2, unsent('circuit_open')), 39_500)
      .accepts({ type: 'attempt_not_executed' }, { type: 'outcome_unknown', cause: 'earlier_attempt_unknown' });
  });

  it('after an absence is not made again once the key will be forgotten', () => {
    sendingAgain({ ...keyed, retentionMs: 60_000 })
      .when(verdict(2, { ...unsent('circuit_open'), retryAfterMs: 5_000 }), 46_000)
      .accepts({ type: 'attempt_not_executed' }, { type: 'outcome_unknown', cause: 'earlier_attempt_unknown' });
  });

  it('after an absence asks again when the tries are used up, instead of ending the intent as refused', () => {
    const third = sendingAgain({ ...keyed, maxAttempts: 2 })
      .when(verdict(2, unsent('connect_refused')), 46_000)
      .accepts({ type: 'attempt_not_executed' }, { type: 'authorized' })
      .when(start(3), 48_000)
      .accepts({ type: 'attempt_started' });
    third
      .when(verdict(3, unsent('connect_refused')), 48_001)
      .accepts({ type: 'attempt_not_executed' }, { type: 'outcome_unknown', cause: 'earlier_attempt_unknown' });
  });

  it('is not made again for what was cancelled', () => {
    sendingAgain()
      .when(cancel, 46_000)
      .accepts({ type: 'cancel_requested' })
      .when(verdict(2, unsent('aborted_unsent')), 46_001)
      .accepts({ type: 'attempt_not_executed' }, { type: 'outcome_unknown' });
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
