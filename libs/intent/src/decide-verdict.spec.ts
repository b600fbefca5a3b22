import { describe, expect, it } from 'vitest';
import { sending, sendingAgain } from './given.spec-helper.js';
import {
  absent,
  accepted202,
  executed,
  keyed,
  leaseEnds,
  lookup,
  lookupOnly,
  noGuarantee,
  read,
  refused,
  runEnd,
  silence,
  start,
  verdict,
} from './samples.spec-helper.js';
import { outcomeOf } from './state.js';

describe('a verdict in time', () => {
  it('commits what was executed', () => {
    sending()
      .when(verdict(1, executed()), 900)
      .accepts({ type: 'committed', proof: 'response', attempt: 1, data: { refund_id: 're_9' } })
      .isIn('committed', { attempts: [{ verdict: 'executed' }] });
  });

  it('counts even after the end of the lease, as long as nobody noticed', () => {
    sending().when(verdict(1, executed()), 11_000).accepts({ type: 'committed' });
  });

  it('rejects the verdict of an attempt that never was', () => {
    sending().when(verdict(7, executed()), 900).rejects('unknown_attempt');
  });

  it('asks about what was accepted and never sends it again (S38)', () => {
    const promised = sending()
      .when(verdict(1, accepted202), 900)
      .accepts({ type: 'accepted', attempt: 1, dueAt: 1_900, deadline: 900 + keyed.settleMs + keyed.deadlineMs })
      .isIn('accepted', { attempts: [{ verdict: 'accepted' }] });
    promised.when(start(2), 900_000).rejects('not_authorized');
  });

  it('fails on a refusal that will not change', () => {
    sending()
      .when(verdict(1, refused('http_422')), 900)
      .accepts(
        { type: 'attempt_not_executed', attempt: 1, cause: 'http_422' },
        { type: 'failed', failure: { code: 'upstream_rejected' } },
      )
      .isIn('failed', { attempts: [{ verdict: 'not_executed', cause: 'http_422' }] });
  });

  it('tries again after a transient refusal, not before the backoff is over', () => {
    sending()
      .when(verdict(1, refused('connect_refused', true)), 900)
      .accepts({ type: 'attempt_not_executed' }, { type: 'authorized', basis: 'not_executed', notBefore: 1_400 })
      .isIn('authorized', { attempts: [{ verdict: 'not_executed' }] });
  });

  it('doubles the backoff and spreads it by the jitter', () => {
    const second = sending()
      .when(verdict(1, refused('connect_refused', true)), 900)
      .accepts({ type: 'attempt_not_executed' }, { type: 'authorized' })
      .when(start(2), 2_000)
      .accepts({ type: 'attempt_started' });
    const at = (jitter: number) => ({ ...verdict(2, refused('connect_refused', true)), jitter });
    const facts = { type: 'attempt_not_executed' } as const;
    second.when(at(0), 3_000).accepts(facts, { type: 'authorized', notBefore: 4_000 });
    second.when(at(0.5), 3_000).accepts(facts, { type: 'authorized', notBefore: 4_500 });
  });

  it('honours Retry-After', () => {
    sending()
      .when(verdict(1, refused('http_429', true, 60_000)), 900)
      .accepts({ type: 'attempt_not_executed' }, { type: 'authorized', notBefore: 60_900 });
  });

  it('fails at once when Retry-After lies behind the end of the authority', () => {
    sending()
      .when(verdict(1, refused('http_429', true, runEnd)), 900)
      .accepts({ type: 'attempt_not_executed' }, { type: 'failed', failure: { code: 'upstream_unavailable' } });
  });

  it('fails when the attempts are used up', () => {
    sending({ ...keyed, maxAttempts: 1 })
      .when(verdict(1, refused('connect_refused', true)), 900)
      .accepts({ type: 'attempt_not_executed' }, { type: 'failed', failure: { code: 'upstream_unavailable' } });
  });

  it('does not know after a silence, and counts the settle time from the verdict', () => {
    sending()
      .when(verdict(1, silence), 8_000)
      .accepts({ type: 'outcome_unknown', cause: 'call_timeout', settleAt: 38_000, dueAt: 9_000, deadline: 638_000 })
      .isIn('unknown', { attempts: [{ verdict: 'unknown', cause: 'call_timeout' }] });
  });

  it('asks a person at once when the tool has neither key nor lookup', () => {
    sending(noGuarantee)
      .when(verdict(1, silence), 8_000)
      .accepts({ type: 'outcome_unknown' }, { type: 'dead_lettered', reason: 'no_way_to_tell' });
  });

  it('does not ask a person when a tool without guarantee was provably not reached', () => {
    sending(noGuarantee)
      .when(verdict(1, refused('connect_refused', true)), 900)
      .accepts({ type: 'attempt_not_executed' }, { type: 'authorized', basis: 'not_executed' });
  });

  it('repeats a read that got no answer', () => {
    sending(read)
      .when(verdict(1, silence), 8_000)
      .accepts({ type: 'attempt_not_executed' }, { type: 'authorized', basis: 'not_executed', notBefore: 8_000 })
      .isIn('authorized');
  });

  it('repeats a read whose upstream wants to answer later, instead of waiting for what nobody looks up', () => {
    sending(read)
      .when(verdict(1, accepted202), 900)
      .accepts(
        { type: 'attempt_not_executed', cause: 'answered_later' },
        { type: 'authorized', basis: 'not_executed' },
      );
  });

  it('tells a read that stayed without answer that nothing changed', () => {
    sending({ ...read, maxAttempts: 1 })
      .when(verdict(1, silence), 8_000)
      .accepts({ type: 'attempt_not_executed' }, { type: 'failed', failure: { code: 'tool_timeout' } });
  });
});

describe('an earlier attempt without proof', () => {
  it('is not cleared by a later refusal (S18)', () => {
    const duplicate = sendingAgain()
      .when(verdict(2, refused('http_422')), 46_000)
      .accepts(
        { type: 'attempt_not_executed', attempt: 2 },
        { type: 'outcome_unknown', cause: 'earlier_attempt_unknown', settleAt: 76_000 },
      )
      .isIn('unknown', { absences: 0, absentAt: null });
    duplicate.when(lookup(absent, 50_000), 50_000).accepts({ type: 'lookup_inconclusive' });
    duplicate
      .when(lookup({ kind: 'present', data: { refund_id: 're_9' } }, 50_000), 50_000)
      .accepts({ type: 'committed', proof: 'lookup', attempt: null });
  });

  it('lets "failed" be said after a refusal only with two fresh absences (S18)', () => {
    sendingAgain()
      .when(verdict(2, refused('http_422')), 46_000)
      .accepts({ type: 'attempt_not_executed' }, { type: 'outcome_unknown' })
      .when(lookup(absent, 76_000), 76_000)
      .accepts({ type: 'lookup_absent', absences: 1 })
      .when(lookup(absent, 81_000), 81_000)
      .accepts({ type: 'lookup_absent', absences: 2 }, { type: 'failed', failure: { code: 'upstream_rejected' } });
  });

  it('commits the intent when it turned out executed while the later one was open', () => {
    const found = sendingAgain(lookupOnly)
      .when(verdict(1, executed()), 46_000)
      .accepts({ type: 'corrected', attempt: 1, finding: 'executed' })
      .isIn('dispatching');
    const committed = { type: 'committed', attempt: 1, data: { refund_id: 're_9' } } as const;
    found
      .when(verdict(2, refused('http_422')), 47_000)
      .accepts({ type: 'attempt_not_executed', attempt: 2 }, committed);
    found
      .when(verdict(2, accepted202), 47_000)
      .accepts({ type: 'accepted', attempt: 2 }, committed)
      .isIn('committed', { attempts: [{ verdict: 'executed' }, { verdict: 'accepted' }] });
    found
      .when(verdict(2, silence), 47_000)
      .accepts({ type: 'outcome_unknown' }, committed)
      .isIn('committed', { attempts: [{ verdict: 'executed' }, { verdict: 'unknown' }] });
  });

  it('makes a second effect of a second success when there is no key', () => {
    sendingAgain(lookupOnly)
      .when(verdict(1, executed()), 46_000)
      .accepts({ type: 'corrected', finding: 'executed' })
      .when(verdict(2, executed()), 47_000)
      .accepts({ type: 'committed', attempt: 2 }, { type: 'corrected', attempt: 1, finding: 'second_effect' });
  });

  it('takes a second success under the same key for the first answer repeated', () => {
    sendingAgain()
      .when(verdict(1, executed({ id: 1, at: 2 })), 46_000)
      .accepts({ type: 'corrected', finding: 'executed' })
      .when(verdict(2, executed({ at: 2, id: 1 })), 47_000)
      .accepts({ type: 'committed', attempt: 2 });
  });
});

describe('the end of a lease', () => {
  it('makes the outcome unknown and counts the settle time from then', () => {
    sending().when(leaseEnds, 10_000).accepts({ type: 'outcome_unknown', cause: 'lease_expired', settleAt: 40_000 });
  });

  it('is not noticed before it is over (S40)', () => {
    sending().when(leaseEnds, 9_999).isUnchanged();
  });

  it('means nothing once the verdict is there', () => {
    sending().when(verdict(1, executed()), 900).accepts({ type: 'committed' }).when(leaseEnds, 10_000).isUnchanged();
  });

  it('repeats a read and asks a person about a tool without guarantee', () => {
    sending(read).when(leaseEnds, 10_000).accepts({ type: 'attempt_not_executed' }, { type: 'authorized' });
    sending(noGuarantee).when(leaseEnds, 10_000).accepts({ type: 'outcome_unknown' }, { type: 'dead_lettered' });
  });
});

describe('the outcome', () => {
  it('is undecided again once the earlier attempt is proven absent', () => {
    const { intent } = sendingAgain();
    expect(intent && outcomeOf(intent)).toBe('undecided');
  });

  it('stays unknown while a resend under the same key is allowed or open', () => {
    const doubtful = sending({ ...keyed, lookup: 'none' })
      .when(verdict(1, silence), 8_000)
      .accepts({ type: 'outcome_unknown' })
      .when(lookup({ kind: 'cannot_tell', detail: 'no lookup' }, 38_000), 38_000)
      .accepts({ type: 'authorized', basis: 'same_key' });
    expect(doubtful.intent && outcomeOf(doubtful.intent)).toBe('unknown');
    const again = doubtful.when(start(2), 39_000).accepts({ type: 'attempt_started' });
    expect(again.intent && outcomeOf(again.intent)).toBe('unknown');
  });
});
