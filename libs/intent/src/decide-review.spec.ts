import { describe, expect, it } from 'vitest';
import type { Command } from './commands.js';
import { type Scenario, sending, sendingAgain, unanswered } from './given.spec-helper.js';
import {
  absent,
  cannotTell,
  executed,
  keyed,
  lookup,
  lookupOnly,
  present,
  refused,
  silence,
  start,
  verdict,
} from './samples.spec-helper.js';
import { needsReview, outcomeOf } from './state.js';
import type { Terms } from './terms.js';
import type { LookupAnswer } from './verdict.js';

const counting: Terms = { ...lookupOnly, counts: true };
const review = (answer: LookupAnswer): Command => ({ type: 'record_review', answer });
const twice: LookupAnswer = { kind: 'present', data: { refund_id: 're_8' }, excess: 1 };

/** Attempt 1 was ruled out by two absences, attempt 2 did it at 46 s. */
function committedAgain(terms = counting): Scenario {
  return sendingAgain(terms).when(verdict(2, executed()), 46_000).accepts({ type: 'committed' });
}

function due({ intent }: Scenario): boolean {
  return intent?.state === 'committed' && needsReview(intent);
}

describe('a commit after an absence', () => {
  it('is looked at once more where the lookup can count', () => {
    expect(due(committedAgain())).toBe(true);
    expect(due(committedAgain(lookupOnly))).toBe(false);
    expect(due(sending(counting).when(verdict(1, executed()), 1).accepts({ type: 'committed' }))).toBe(false);
  });

  it('is left alone when there is one effect', () => {
    const seen = committedAgain()
      .when(review({ ...present(), kind: 'present', excess: 0 } as LookupAnswer), 80_000)
      .accepts({ type: 'reviewed' })
      .isIn('committed');
    expect(due(seen)).toBe(false);
    seen.when(review(twice), 80_001).isUnchanged();
  });

  it('raises the alarm once: what is known already is only closed', () => {
    const twiceAtOnce = unanswered(counting)
      .when(lookup(absent, 39_000), 40_000)
      .accepts({ type: 'lookup_absent' })
      .when(lookup(absent, 45_000), 45_000)
      .accepts({ type: 'lookup_absent' }, { type: 'authorized' })
      .when(start(2), 45_001)
      .accepts({ type: 'attempt_started' })
      .when(verdict(2, silence), 46_000)
      .accepts({ type: 'outcome_unknown' })
      .when(lookup(twice, 47_000), 47_000)
      .accepts({ type: 'committed' }, { type: 'corrected', finding: 'second_effect', breach: 'max_processing' });
    expect(due(twiceAtOnce)).toBe(true);
    twiceAtOnce.when(review(twice), 80_000).accepts({ type: 'reviewed' });
  });

  it('is flagged when the effect is there twice: the upstream exceeded its declared maximum', () => {
    committedAgain()
      .when(review(twice), 80_000)
      .accepts(
        { type: 'corrected', finding: 'second_effect', breach: 'max_processing', data: { refund_id: 're_8' } },
        { type: 'reviewed' },
      )
      .isIn('committed', { data: { refund_id: 're_9' } });
  });

  it('is asked about again while the lookup cannot tell, until its deadline', () => {
    for (const answer of [cannotTell, absent]) {
      committedAgain().when(review(answer), 80_000).isUnchanged();
      committedAgain().when(review(answer), 676_000).accepts({ type: 'reviewed' });
    }
  });
});

describe('multiplicity', () => {
  it('commits and flags what is there more often than it was asked for', () => {
    unanswered()
      .when(lookup(twice, 9_000), 9_000)
      .accepts({ type: 'committed', data: { refund_id: 're_8' } }, { type: 'corrected', finding: 'second_effect' });
  });

  const some: LookupAnswer = { kind: 'partial', data: null, detail: '2 of 3 parts are there' };

  it('waits for missing parts until nothing can come any more, then asks a person', () => {
    unanswered()
      .when(lookup(some, 9_000), 9_000)
      .accepts({ type: 'lookup_inconclusive', detail: '2 of 3 parts are there', dueAt: 38_000 })
      .when(lookup(some, 38_000), 38_000)
      .accepts({ type: 'dead_lettered', reason: 'partial_effect', detail: '2 of 3 parts are there' });
  });

  it('goes on asking where the lookup proves presence only', () => {
    unanswered({ ...keyed, lookup: 'presence_only' })
      .when(lookup(some, 38_000), 38_000)
      .accepts({ type: 'lookup_inconclusive' });
  });

  it('counts a part as an effect where none was believed in', () => {
    const failed = sending(lookupOnly)
      .when(
        verdict(1, { kind: 'not_executed', cause: 'http_422', transient: false, retryAfterMs: null, detail: '' }),
        1,
      )
      .accepts({ type: 'attempt_not_executed' }, { type: 'failed' });
    const corrected = failed.when(lookup(some, 2), 2).accepts({ type: 'corrected', finding: 'partial_effect' });
    expect(corrected.intent && outcomeOf(corrected.intent)).toBe('executed');
  });

  it('found while another attempt is open is told, allows no resend, and is not taken for the whole', () => {
    const open = sendingAgain(counting)
      .when(lookup(some, 44_000), 45_500)
      .accepts({ type: 'corrected', finding: 'partial_effect', breach: 'max_processing' })
      .isIn('dispatching');
    open
      .when(verdict(2, { ...refused('circuit_open', true), sent: false }), 46_000)
      .accepts({ type: 'attempt_not_executed' }, { type: 'outcome_unknown', cause: 'earlier_attempt_unknown' })
      .when(lookup(some, 80_000), 80_000)
      .accepts({ type: 'dead_lettered', reason: 'partial_effect' });
    open.when(verdict(2, executed()), 46_000).accepts({ type: 'committed' });
  });
});
