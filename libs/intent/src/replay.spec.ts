import { describe, it } from 'vitest';
import { admitted, type Scenario, sending, sendingAgain, unanswered } from './given.spec-helper.js';
import {
  absent,
  cannotTell,
  executed,
  keyed,
  keyedWithoutProof,
  lookup,
  lookupOnly,
  noGuarantee,
  present,
  refused,
  replay,
  runEnd,
  silence,
  start,
  verdict,
} from './samples.spec-helper.js';
import type { Terms } from './terms.js';

const deadAt = 638_000;

function deadLettered(terms?: Terms): Scenario {
  return unanswered(terms).when(lookup(cannotTell, deadAt), deadAt).accepts({ type: 'dead_lettered' });
}

function absentTwice(from: Scenario, first: number) {
  const second = first + keyed.spacingMs;
  return from
    .when(lookup(absent, first), first)
    .accepts({ type: 'lookup_absent' })
    .when(lookup(absent, second), second);
}

describe('replay', () => {
  it('reconciles first: it asks again and sends nothing by itself', () => {
    deadLettered()
      .when(replay, 700_000)
      .accepts({ type: 'replay_requested', by: 'olga', reason: 'upstream is back', settleAt: 700_000, dueAt: 700_000 })
      .isIn('unknown', { absences: 0, asked: 0, deadline: 700_000 + keyed.deadlineMs })
      .when(start(2), 700_000)
      .rejects('not_authorized');
  });

  it('commits when the effect turns out to be there', () => {
    deadLettered()
      .when(replay, 700_000)
      .accepts({ type: 'replay_requested' })
      .when(lookup(present(), 700_001), 700_001)
      .accepts({ type: 'committed' });
  });

  it('does not take an absence from before it for an answer to it', () => {
    deadLettered()
      .when(replay, 700_000)
      .accepts({ type: 'replay_requested' })
      .when(lookup(absent, 699_999), 700_001)
      .isUnchanged()
      .isIn('unknown', { absences: 0 });
  });

  it('still waits for the settle time that runs', () => {
    const dead = unanswered({ ...lookupOnly, deadlineMs: 0 })
      .when(lookup(cannotTell, 38_000), 38_000)
      .accepts({ type: 'dead_lettered' });
    dead.when(replay, 39_000).accepts({ type: 'replay_requested', settleAt: 68_000, dueAt: 40_000 });
  });

  it('grants exactly one more attempt when they are used up', () => {
    const dead = absentTwice(unanswered({ ...lookupOnly, maxAttempts: 1 }), 38_000).accepts(
      { type: 'lookup_absent' },
      { type: 'dead_lettered', reason: 'attempts_exhausted' },
    );
    const again = absentTwice(dead.when(replay, 700_000).accepts({ type: 'replay_requested' }), 700_000)
      .accepts({ type: 'lookup_absent' }, { type: 'authorized', basis: 'absent' })
      .isIn('authorized', { maxAttempts: 2 })
      .when(start(2), 705_001)
      .accepts({ type: 'attempt_started', attempt: 2 })
      .when(verdict(2, silence), 706_000)
      .accepts({ type: 'outcome_unknown' });
    absentTwice(again, 736_000).accepts(
      { type: 'lookup_absent' },
      { type: 'dead_lettered', reason: 'attempts_exhausted' },
    );
  });

  it('sends again after two absences even where the key is forgotten', () => {
    const dead = absentTwice(unanswered(), keyed.retentionMs).accepts(
      { type: 'lookup_absent' },
      { type: 'dead_lettered', reason: 'key_retention_passed' },
    );
    absentTwice(dead.when(replay, 4_000_000).accepts({ type: 'replay_requested' }), 4_000_000)
      .accepts({ type: 'lookup_absent' }, { type: 'authorized', basis: 'absent', resendUntil: null })
      .when(start(2), 4_010_000)
      .accepts({ type: 'attempt_started' });
  });

  it('backs off on a failing lookup even where the key is forgotten, until its own deadline', () => {
    const replayed = deadLettered().when(replay, 4_000_000).accepts({ type: 'replay_requested' });
    replayed.when(lookup(cannotTell, 4_000_001), 4_000_001).accepts({ type: 'lookup_inconclusive' });
    replayed
      .when(lookup(cannotTell, 4_600_000), 4_600_000)
      .accepts({ type: 'dead_lettered', reason: 'lookup_deadline' });
  });

  it('does not use a forgotten key where absence cannot be proven', () => {
    deadLettered(keyedWithoutProof)
      .when(replay, 4_000_000)
      .accepts({ type: 'replay_requested' })
      .when(lookup(absent, 4_000_001), 4_000_001)
      .accepts({ type: 'dead_lettered', reason: 'key_retention_passed' });
  });

  it('sends again although the last attempt was refused', () => {
    const dead = sendingAgain()
      .when(verdict(2, refused('http_503', true)), 46_000)
      .accepts({ type: 'attempt_not_executed' }, { type: 'outcome_unknown' })
      .when(lookup(cannotTell, 676_000), 676_000)
      .accepts({ type: 'dead_lettered', reason: 'lookup_deadline' });
    absentTwice(dead.when(replay, 800_000).accepts({ type: 'replay_requested' }), 800_000).accepts(
      { type: 'lookup_absent' },
      { type: 'authorized', basis: 'absent' },
    );
  });

  it('brings its own authority where that of the run is over, long enough for the absences', () => {
    const terms = { ...lookupOnly, spacingMs: 4_000_000 };
    const replayed = deadLettered(terms)
      .when(replay, runEnd)
      .accepts({ type: 'replay_requested', expiresAt: runEnd + 4_000_000 + 3_600_000 });
    replayed
      .when(lookup(absent, runEnd), runEnd)
      .accepts({ type: 'lookup_absent' })
      .when(lookup(absent, runEnd + 4_000_000), runEnd + 4_000_000)
      .accepts({ type: 'lookup_absent' }, { type: 'authorized' })
      .when(start(2), runEnd + 4_000_001)
      .accepts({ type: 'attempt_started' });
  });

  it('is refused for a tool nobody can ask: a replay could double it', () => {
    sending(noGuarantee)
      .when(verdict(1, silence), 8_000)
      .accepts({ type: 'outcome_unknown' }, { type: 'dead_lettered' })
      .when(replay, 700_000)
      .rejects('not_replayable');
  });

  it('is refused for everything but a dead letter', () => {
    admitted().when(replay, 1).rejects('not_dead_lettered');
    unanswered().when(replay, 9_000).rejects('not_dead_lettered');
    deadLettered()
      .when(replay, deadAt)
      .accepts({ type: 'replay_requested' })
      .when(replay, deadAt)
      .rejects('not_dead_lettered');
    sending()
      .when(verdict(1, executed()), 900)
      .accepts({ type: 'committed' })
      .when(replay, 901)
      .rejects('not_dead_lettered');
  });
});
