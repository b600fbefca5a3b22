import { describe, expect, it } from 'vitest';
import { resendAllowed, type Scenario, sending, sendingAgain, unanswered } from './given.spec-helper.js';
import {
  absent,
  accepted202,
  cancel,
  cannotTell,
  executed,
  keyed,
  keyedWithoutProof,
  leaseEnds,
  lookup,
  lookupOnly,
  noGuarantee,
  present,
  read,
  refused,
  resolve,
  runEnd,
  silence,
  start,
  verdict,
} from './samples.spec-helper.js';
import { outcomeOf } from './state.js';
import type { Terms } from './terms.js';

const corrected = { type: 'corrected', attempt: 1, finding: 'executed', data: { refund_id: 're_9' } } as const;
const committed = { type: 'committed', proof: 'response', attempt: 1, data: { refund_id: 're_9' } } as const;

function leaseLost(terms?: Terms): Scenario {
  return sending(terms).when(leaseEnds, 10_000).accepts({ type: 'outcome_unknown' });
}

function deadLettered(): Scenario {
  return unanswered().when(lookup(cannotTell, 638_000), 638_000).accepts({ type: 'dead_lettered' });
}

describe('a late success', () => {
  it('commits an unknown intent, with no word of failure in between (S46)', () => {
    leaseLost().when(verdict(1, executed()), 15_000).accepts(committed).isIn('committed');
  });

  it('commits what the upstream had only promised', () => {
    sending()
      .when(verdict(1, accepted202), 900)
      .accepts({ type: 'accepted' })
      .when(verdict(1, executed()), 5_000)
      .accepts(committed);
  });

  it('stops a resend that had been allowed', () => {
    resendAllowed()
      .when(verdict(1, executed()), 45_001)
      .accepts(corrected, committed)
      .when(start(2), 45_002)
      .rejects('not_authorized');
  });

  it('is noted, and decided later, while the resend is open', () => {
    sendingAgain()
      .when(verdict(1, executed()), 46_000)
      .accepts(corrected)
      .isIn('dispatching', { attempts: [{ verdict: 'executed' }, { verdict: 'open' }] })
      .when(verdict(1, executed()), 46_001)
      .isUnchanged();
  });

  it('corrects a dead letter explicitly (S47)', () => {
    deadLettered().when(verdict(1, executed()), 700_000).accepts(corrected, committed).isIn('committed');
  });

  it('corrects "failed" without changing it, and only once', () => {
    const wrong = deadLettered()
      .when(resolve('not_executed'), 700_000)
      .accepts({ type: 'resolved' }, { type: 'failed' })
      .when(verdict(1, executed()), 700_001)
      .accepts(corrected)
      .isIn('failed', { corrections: [{ finding: 'executed' }] });
    wrong.when(verdict(1, executed()), 700_002).isUnchanged();
    expect(wrong.intent && outcomeOf(wrong.intent)).toBe('executed');
  });

  it('corrects "cancelled" without changing it', () => {
    resendAllowed()
      .when(cancel, 46_000)
      .accepts({ type: 'cancelled' })
      .when(verdict(1, executed()), 47_000)
      .accepts(corrected)
      .isIn('cancelled');
  });

  it('corrects "expired" without changing it', () => {
    resendAllowed()
      .when(start(2), runEnd)
      .accepts({ type: 'expired' })
      .when(verdict(1, executed()), runEnd + 1)
      .accepts(corrected)
      .isIn('expired');
  });

  it('is the effect that a lookup had counted already', () => {
    unanswered()
      .when(lookup(present(), 9_000), 9_000)
      .accepts({ type: 'committed', proof: 'lookup', attempt: 1 })
      .when(verdict(1, executed()), 10_000)
      .isUnchanged();
  });

  it('is the effect that a person had counted already', () => {
    unanswered()
      .when(resolve('executed'), 9_000)
      .accepts({ type: 'resolved' }, { type: 'committed', proof: 'operator', attempt: null })
      .when(verdict(1, executed()), 10_000)
      .isUnchanged();
  });

  it('is a second effect when another attempt is committed and there is no key', () => {
    sendingAgain(lookupOnly)
      .when(verdict(2, executed()), 46_000)
      .accepts({ type: 'committed', attempt: 2 })
      .when(verdict(1, executed()), 47_000)
      .accepts({ type: 'corrected', attempt: 1, finding: 'second_effect' })
      .isIn('committed')
      .when(verdict(1, executed()), 47_001)
      .isUnchanged();
  });

  it('is the same effect when the key brought the same answer, and a second one when it did not', () => {
    const done = sendingAgain()
      .when(verdict(2, executed({ id: 1 })), 46_000)
      .accepts({ type: 'committed', attempt: 2 });
    done.when(verdict(1, executed({ id: 1 })), 47_000).isUnchanged();
    done.when(verdict(1, executed({ id: 2 })), 47_000).accepts({ type: 'corrected', finding: 'second_effect' });
  });

  it('contradicts the absences when a lookup committed the intent without naming the attempt', () => {
    const found = sendingAgain(lookupOnly)
      .when(verdict(2, silence), 53_000)
      .accepts({ type: 'outcome_unknown' })
      .when(lookup(present(), 54_000), 54_000)
      .accepts({ type: 'committed', proof: 'lookup', attempt: null });
    found.when(verdict(2, executed()), 55_000).isUnchanged();
    found
      .when(verdict(1, executed()), 55_000)
      .accepts(corrected)
      .when(verdict(2, executed()), 56_000)
      .accepts({ type: 'corrected', attempt: 2, finding: 'second_effect' });
  });

  it('of a read answers whoever still waits and is no effect too many', () => {
    const retried = sending(read)
      .when(leaseEnds, 10_000)
      .accepts({ type: 'attempt_not_executed' }, { type: 'authorized' });
    retried.when(verdict(1, executed()), 10_100).accepts(committed);
    const again = retried.when(start(2), 11_000).accepts({ type: 'attempt_started' });
    again.when(verdict(1, executed()), 11_100).isUnchanged();
    again
      .when(verdict(2, executed()), 11_500)
      .accepts({ type: 'committed', attempt: 2 })
      .when(verdict(1, executed()), 11_600)
      .isUnchanged();
  });

  it('of a read that failed stays failed without an alarm', () => {
    sending({ ...read, maxAttempts: 1 })
      .when(leaseEnds, 10_000)
      .accepts({ type: 'attempt_not_executed' }, { type: 'failed' })
      .when(verdict(1, executed()), 10_100)
      .isUnchanged();
  });
});

describe('a late refusal', () => {
  it('of the attempt whose lease ended frees the intent without a lookup', () => {
    leaseLost()
      .when(verdict(1, refused('connect_refused', true)), 11_000)
      .accepts({ type: 'attempt_not_executed', attempt: 1 }, { type: 'authorized', basis: 'not_executed' });
  });

  it('does not clear an earlier attempt', () => {
    sendingAgain()
      .when(leaseEnds, 55_000)
      .accepts({ type: 'outcome_unknown' })
      .when(verdict(2, refused('http_422')), 56_000)
      .accepts({ type: 'attempt_not_executed', attempt: 2 }, { type: 'outcome_unknown', settleAt: 86_000 });
  });

  it('means nothing once the next attempt is allowed, open, or the matter closed', () => {
    const no = verdict(1, refused('http_422'));
    resendAllowed().when(no, 46_000).isUnchanged();
    sendingAgain().when(no, 46_000).isUnchanged();
    leaseLost(noGuaranteeWithLookup)
      .when(lookup(present(), 11_000), 11_000)
      .accepts({ type: 'committed' })
      .when(no, 12_000)
      .isUnchanged();
    deadLettered().when(no, 700_000).isUnchanged();
  });
});

const noGuaranteeWithLookup: Terms = { ...noGuarantee, lookup: 'authoritative' };

describe('a late promise', () => {
  it('ends the search for absences: what will run must not be sent again (S38)', () => {
    leaseLost()
      .when(verdict(1, accepted202), 11_000)
      .accepts({ type: 'accepted', attempt: 1, deadline: 11_000 + keyed.settleMs + keyed.deadlineMs })
      .when(lookup(absent, 60_000), 60_000)
      .accepts({ type: 'lookup_inconclusive' })
      .isIn('accepted');
  });

  it('takes back the permission to send again', () => {
    resendAllowed()
      .when(verdict(1, accepted202), 46_000)
      .accepts({ type: 'accepted', attempt: 1 })
      .when(start(2), 46_001)
      .rejects('not_authorized');
    unanswered(keyedWithoutProof)
      .when(lookup(absent, 38_000), 38_000)
      .accepts({ type: 'authorized', basis: 'same_key' })
      .when(verdict(1, accepted202), 39_000)
      .accepts({ type: 'accepted' });
  });

  it('changes nothing while another attempt is open or after the end', () => {
    sendingAgain().when(verdict(1, accepted202), 46_000).isUnchanged();
    deadLettered().when(verdict(1, accepted202), 700_000).isUnchanged();
  });
});

it('a late "I do not know" changes nothing', () => {
  leaseLost().when(verdict(1, silence), 11_000).isUnchanged();
  sendingAgain().when(verdict(1, silence), 46_000).isUnchanged();
});
