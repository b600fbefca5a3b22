import { describe, it } from 'vitest';
import { admitted, resendAllowed, type Scenario, sending, sendingAgain, unanswered } from './given.spec-helper.js';
import {
  absent,
  accepted202,
  cancel,
  cannotTell,
  executed,
  keyed,
  lookup,
  lookupOnly,
  present,
  refused,
  replay,
  silence,
  start,
  verdict,
} from './samples.spec-helper.js';
import type { Terms } from './terms.js';

const inconclusive = { type: 'lookup_inconclusive' } as const;

function absentTwice(terms: Terms, first: number, rest: Scenario = unanswered(terms)) {
  return rest
    .when(lookup(absent, first), first)
    .accepts({ type: 'lookup_absent', absences: 1, dueAt: first + terms.spacingMs })
    .when(lookup(absent, first + terms.spacingMs), first + terms.spacingMs);
}

describe('an accepted request', () => {
  const promised = () => sending().when(verdict(1, accepted202), 900).accepts({ type: 'accepted' });
  const deadline = 900 + keyed.settleMs + keyed.deadlineMs;

  it('is committed when it is found', () => {
    promised().when(lookup(present(), 5_000), 5_000).accepts({ type: 'committed', proof: 'lookup', attempt: 1 });
  });

  it('is asked for again while it is absent, and is never sent again (S38)', () => {
    promised()
      .when(lookup(absent, 100_000), 100_000)
      .accepts({ ...inconclusive, dueAt: 101_000 })
      .when(lookup(absent, 200_000), 200_000)
      .accepts({ ...inconclusive, dueAt: 202_000 })
      .isIn('accepted');
  });

  it.each([absent, cannotTell])('is handed to a person at the deadline ($kind) (S38)', (answer) => {
    promised().when(lookup(answer, deadline), deadline).accepts({ type: 'dead_lettered', reason: 'lookup_deadline' });
  });

  it('needs a replay by a person and two absences before it is sent again, and is then as good as any absence', () => {
    const replayed = promised()
      .when(lookup(absent, deadline), deadline)
      .accepts({ type: 'dead_lettered' })
      .when(replay, deadline)
      .accepts({ type: 'replay_requested', settleAt: deadline + keyed.settleMs });
    absentTwice(keyed, deadline + keyed.settleMs, replayed)
      .accepts({ type: 'lookup_absent' }, { type: 'authorized', basis: 'absent' })
      .isIn('authorized', { attempts: [{ verdict: 'absent' }] });
  });
});

describe('an answer that comes too late', () => {
  it('stops a resend and closes a dead letter when the effect is there', () => {
    const found = [
      { type: 'corrected', finding: 'executed' },
      { type: 'committed', proof: 'lookup' },
    ] as const;
    resendAllowed()
      .when(lookup(present(), 44_000), 46_000)
      .accepts(...found)
      .isIn('committed');
    unanswered()
      .when(lookup(cannotTell, 638_000), 638_000)
      .accepts({ type: 'dead_lettered' })
      .when(lookup(present(), 637_000), 639_000)
      .accepts(...found);
  });

  it('corrects a closed intent once', () => {
    resendAllowed()
      .when(cancel, 46_000)
      .accepts({ type: 'cancelled' })
      .when(lookup(present(), 45_500), 47_000)
      .accepts({ type: 'corrected', attempt: null, finding: 'executed' })
      .isIn('cancelled')
      .when(lookup(present(), 45_500), 47_001)
      .isUnchanged();
  });

  it('tells of an effect of an earlier attempt while the next one is open, so that both are counted', () => {
    sendingAgain()
      .when(lookup(present(), 44_000), 46_000)
      .accepts({ type: 'corrected', finding: 'executed' })
      .isIn('dispatching')
      .when(verdict(2, silence), 47_000)
      .accepts({ type: 'outcome_unknown' }, { type: 'committed', proof: 'response', attempt: null });
  });

  it('tells of an effect too many when the next attempt has been committed meanwhile', () => {
    sendingAgain(lookupOnly)
      .when(verdict(2, executed()), 46_000)
      .accepts({ type: 'committed', proof: 'response', attempt: 2 })
      .when(lookup(present(), 44_000), 47_000)
      .accepts({ type: 'corrected', finding: 'second_effect' })
      .isIn('committed')
      .when(lookup(present(), 44_000), 47_001)
      .isUnchanged();
    sendingAgain(keyed)
      .when(verdict(2, executed()), 46_000)
      .accepts({ type: 'committed', attempt: 2 })
      .when(lookup(present(), 44_000), 47_000)
      .isUnchanged();
  });

  it.each([46_500, undefined])(
    'means nothing when the next attempt may have done what was found (answered at %s)',
    (at) => {
      const asked = {
        type: 'record_lookup',
        answer: present(),
        askedAt: 44_000,
        ...(at && { answeredAt: at }),
      } as const;
      sendingAgain(lookupOnly).when(asked, 47_000).isUnchanged();
      sendingAgain(lookupOnly)
        .when(verdict(2, executed()), 46_000)
        .accepts({ type: 'committed', proof: 'response', attempt: 2 })
        .when(asked, 47_000)
        .isUnchanged();
    },
  );

  it('means nothing when it is an absence, or may be about the open attempt, or nothing was ever sent', () => {
    resendAllowed().when(lookup(absent, 44_000), 46_000).isUnchanged();
    sendingAgain().when(lookup(present(), 45_500), 46_000).isUnchanged();
    sendingAgain().when(lookup(absent, 100_000), 100_000).isUnchanged();
    admitted().when(lookup(present(), 10), 10).isUnchanged();
    unanswered()
      .when(lookup(present(), 9_000), 9_000)
      .accepts({ type: 'committed' })
      .when(lookup(absent, 60_000), 60_000)
      .isUnchanged();
  });

  it('of an earlier round does not count for the round after the next attempt', () => {
    sendingAgain()
      .when(verdict(2, refused('http_422')), 46_000)
      .accepts({ type: 'attempt_not_executed' }, { type: 'outcome_unknown' })
      .when(lookup(absent, 44_500), 90_000)
      .accepts(inconclusive)
      .when(start(3), 90_000)
      .rejects('not_authorized');
  });
});
