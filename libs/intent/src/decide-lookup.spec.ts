import { describe, it } from 'vitest';
import { type Scenario, sendingAgain, unanswered } from './given.spec-helper.js';
import {
  absent,
  cannotTell,
  keyed,
  keyedWithoutLookup,
  keyedWithoutProof,
  lookup,
  lookupOnly,
  noGuarantee,
  present,
  runEnd,
  silence,
  verdict,
} from './samples.spec-helper.js';
import type { Terms } from './terms.js';

/** Attempt 1 timed out at 8 s: settled at 38 s; asked for until 638 s; the key is good until 3590 s. */
const settled = 38_000;
const keyOver = keyed.retentionMs - keyed.leaseMs;
const inconclusive = { type: 'lookup_inconclusive' } as const;

function absentTwice(terms: Terms, first: number, rest: Scenario = unanswered(terms)) {
  return rest
    .when(lookup(absent, first), first)
    .accepts({ type: 'lookup_absent', absences: 1, dueAt: first + terms.spacingMs })
    .when(lookup(absent, first + terms.spacingMs), first + terms.spacingMs);
}

describe('present', () => {
  it.each([
    ['before the settle time', 9_000],
    ['after it', settled],
    ['after the key is forgotten', keyOver],
  ])('commits %s', (_, time) => {
    unanswered()
      .when(lookup(present(), time), time)
      .accepts({ type: 'committed', proof: 'lookup', attempt: 1, data: { refund_id: 're_9' } });
  });

  it('commits on the word of a lookup that cannot prove absence', () => {
    unanswered(keyedWithoutProof).when(lookup(present(), 9_000), 9_000).accepts({ type: 'committed' });
  });
});

describe('absent, authoritative', () => {
  it('waits before the settle time (T2)', () => {
    unanswered()
      .when(lookup(absent, settled - 1), settled - 1)
      .accepts({ ...inconclusive, dueAt: settled })
      .isIn('unknown', { absences: 0 });
  });

  it('is judged by when it was asked, not by when it was answered (T2)', () => {
    unanswered()
      .when(lookup(absent, settled - 1), settled + 60_000)
      .accepts({ ...inconclusive, dueAt: settled });
  });

  it('allows the next attempt the second time, as long as the key is kept', () => {
    absentTwice(keyed, settled)
      .accepts(
        { type: 'lookup_absent', absences: 2 },
        { type: 'authorized', basis: 'absent', notBefore: null, resendUntil: keyOver },
      )
      .isIn('authorized', { attempts: [{ verdict: 'absent' }] });
  });

  it('does not count a second absence asked too soon after the first', () => {
    const once = unanswered().when(lookup(absent, settled), 40_000).accepts({ type: 'lookup_absent', absences: 1 });
    once.when(lookup(absent, 44_999), 60_000).isUnchanged();
    once.when(lookup(absent, 45_000), 45_000).accepts({ type: 'lookup_absent' }, { type: 'authorized' });
  });

  it('is not asked for in circles when an answer from before the settle time comes late', () => {
    unanswered()
      .when(lookup(absent, settled), settled)
      .accepts({ type: 'lookup_absent', absences: 1 })
      .when(lookup(absent, settled - 1), settled + 1)
      .isUnchanged()
      .isIn('unknown', { dueAt: settled + keyed.spacingMs });
  });

  it('waits for the rest of the spacing after a lookup that could not tell in between', () => {
    unanswered()
      .when(lookup(absent, settled), settled)
      .accepts({ type: 'lookup_absent', absences: 1 })
      .when(lookup(cannotTell, settled + 100), settled + 100)
      .accepts({ ...inconclusive, dueAt: settled + 1_100 })
      .when(lookup(absent, settled + 1_100), settled + 1_100)
      .accepts({ ...inconclusive, dueAt: settled + keyed.spacingMs })
      .isIn('unknown', { absences: 1, absentAt: settled });
  });

  it('needs no key where the lookup is the guarantee', () => {
    absentTwice(lookupOnly, settled).accepts(
      { type: 'lookup_absent' },
      { type: 'authorized', basis: 'absent', resendUntil: null },
    );
  });

  it('asks a person when the attempts are used up', () => {
    absentTwice({ ...keyed, maxAttempts: 1 }, settled).accepts(
      { type: 'lookup_absent' },
      { type: 'dead_lettered', reason: 'attempts_exhausted' },
    );
  });

  it('asks a person when the key is forgotten', () => {
    absentTwice(keyed, keyOver).accepts(
      { type: 'lookup_absent' },
      { type: 'dead_lettered', reason: 'key_retention_passed' },
    );
  });

  it('ends in "expired" when the authority is over', () => {
    absentTwice(lookupOnly, runEnd).accepts({ type: 'lookup_absent' }, { type: 'expired' });
  });

  it('never allows a resend without any guarantee', () => {
    unanswered({ ...noGuarantee, lookup: 'authoritative' })
      .when(lookup(absent, settled), settled)
      .accepts({ type: 'dead_lettered', reason: 'absence_not_provable' });
  });

  it('starts counting again after every attempt', () => {
    sendingAgain()
      .when(verdict(2, silence), 53_000)
      .accepts({ type: 'outcome_unknown', settleAt: 83_000 })
      .isIn('unknown', { absences: 0, absentAt: null })
      .when(lookup(absent, 82_999), 82_999)
      .accepts(inconclusive)
      .when(lookup(absent, 83_000), 83_000)
      .accepts({ type: 'lookup_absent', absences: 1 });
  });
});

describe('absent, not authoritative', () => {
  it('waits before the settle time', () => {
    unanswered(keyedWithoutProof)
      .when(lookup(absent, settled - 1), settled)
      .accepts({ ...inconclusive, dueAt: settled });
  });

  it('allows the next attempt under a key that is kept', () => {
    unanswered(keyedWithoutProof)
      .when(lookup(absent, settled), settled)
      .accepts({ type: 'authorized', basis: 'same_key', resendUntil: keyOver })
      .isIn('authorized', { attempts: [{ verdict: 'unknown' }] });
  });

  it('asks a person when the key is forgotten', () => {
    unanswered(keyedWithoutProof)
      .when(lookup(absent, keyOver), keyOver)
      .accepts({ type: 'dead_lettered', reason: 'key_retention_passed' });
  });

  it('asks a person when there is no key', () => {
    unanswered({ ...lookupOnly, lookup: 'presence_only' })
      .when(lookup(absent, settled), settled)
      .accepts({ type: 'dead_lettered', reason: 'absence_not_provable' });
  });

  it('asks a person when attempts or authority are used up', () => {
    unanswered({ ...keyedWithoutProof, maxAttempts: 1 })
      .when(lookup(absent, settled), settled)
      .accepts({ type: 'dead_lettered', reason: 'attempts_exhausted' });
    unanswered({ ...keyedWithoutProof, retentionMs: 2 * runEnd })
      .when(lookup(absent, runEnd), runEnd)
      .accepts({ type: 'dead_lettered', reason: 'authority_expired' });
  });
});

describe('cannot tell', () => {
  it('backs off, doubling each time', () => {
    unanswered()
      .when(lookup(cannotTell, 9_000), 9_000)
      .accepts({ ...inconclusive, dueAt: 10_000 })
      .when(lookup(cannotTell, 50_000), 50_000)
      .accepts({ ...inconclusive, dueAt: 52_000 })
      .when(lookup(cannotTell, 60_000), 60_000)
      .accepts({ ...inconclusive, dueAt: 64_000 })
      .isIn('unknown', { asked: 3, absences: 0 });
  });

  it('is not an absence, however often it is heard (T2)', () => {
    unanswered()
      .when(lookup(absent, settled), settled)
      .accepts({ type: 'lookup_absent', absences: 1 })
      .when(lookup(cannotTell, 60_000), 60_000)
      .accepts(inconclusive)
      .isIn('unknown', { absences: 1 });
  });

  it('asks a person at the deadline', () => {
    const deadline = settled + keyed.deadlineMs;
    unanswered()
      .when(lookup(cannotTell, deadline), deadline - 1)
      .accepts(inconclusive);
    unanswered()
      .when(lookup(cannotTell, deadline), deadline)
      .accepts({ type: 'dead_lettered', reason: 'lookup_deadline', detail: 'http_503' });
  });

  it('asks a person before the deadline when the key is forgotten', () => {
    unanswered({ ...keyed, deadlineMs: 10 * keyed.retentionMs })
      .when(lookup(cannotTell, keyOver - 1), keyOver - 1)
      .accepts(inconclusive)
      .when(lookup(cannotTell, keyOver), keyOver)
      .accepts({ type: 'dead_lettered', reason: 'key_retention_passed' });
  });

  it('does not hurry to a person before the settle time, even with a key of short memory', () => {
    unanswered({ ...keyed, retentionMs: 12_000 })
      .when(lookup(cannotTell, 10_000), 10_000)
      .accepts(inconclusive);
  });

  it('is all that a tool without lookup says: its key allows the next attempt after the settle time', () => {
    unanswered(keyedWithoutLookup)
      .when(lookup(cannotTell, settled - 1), settled - 1)
      .accepts({ ...inconclusive, dueAt: settled })
      .when(lookup(cannotTell, settled), settled)
      .accepts({ type: 'authorized', basis: 'same_key', resendUntil: keyOver });
  });

  it('leaves a tool without lookup to a person once the key is forgotten', () => {
    unanswered(keyedWithoutLookup)
      .when(lookup(cannotTell, keyOver), keyOver)
      .accepts({ type: 'dead_lettered', reason: 'key_retention_passed' });
  });
});
