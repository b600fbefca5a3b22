import { describe, it } from 'vitest';
import type { Command } from './commands.js';
import { type Scenario, sending, unanswered } from './given.spec-helper.js';
import {
  accepted202,
  executed,
  keyed,
  keyedWithoutLookup,
  lookup,
  present,
  read,
  replay,
  silence,
  start,
  verdict,
} from './samples.spec-helper.js';
import type { Terms } from './terms.js';
import type { PollAnswer } from './verdict.js';

const polled: Terms = { ...keyed, poll: { everyMs: 2_000, deadlineMs: 60_000 } };
const done: PollAnswer = { kind: 'executed', data: { refund_id: 're_9' } };
const givenUp: PollAnswer = { kind: 'failed', detail: 'card closed' };
const pending: PollAnswer = { kind: 'pending', detail: 'not done yet' };
const poll = (answer: PollAnswer, askedAt: number): Command => ({ type: 'record_poll', answer, askedAt });

function accepted(terms = polled): Scenario {
  return sending(terms).when(verdict(1, accepted202), 900).accepts({ type: 'accepted' });
}

describe('a request that the upstream accepted', () => {
  it('is asked about at the pace of its tool until its deadline, not that of the lookup', () => {
    accepted().isIn('accepted', { dueAt: 2_900, deadline: 60_900 });
    accepted(keyed).isIn('accepted', { dueAt: 1_900, deadline: 630_900 });
    accepted()
      .when(poll(pending, 2_900), 3_000)
      .accepts({ type: 'lookup_inconclusive', dueAt: 5_000 })
      .isIn('accepted', { dueAt: 5_000 });
  });

  it('ends committed when it was done', () => {
    accepted()
      .when(poll(done, 2_900), 3_000)
      .accepts({ type: 'committed', proof: 'poll', attempt: 1, data: { refund_id: 're_9' } });
  });

  it('really fails when the upstream gave it up (S38)', () => {
    accepted()
      .when(poll(givenUp, 2_900), 3_000)
      .accepts(
        { type: 'attempt_not_executed', attempt: 1, cause: 'operation_failed' },
        { type: 'failed', failure: { code: 'upstream_rejected' } },
      )
      .isIn('failed');
  });

  it('stays open for an earlier attempt that nobody has proof of', () => {
    const again = unanswered({ ...polled, lookup: 'none' })
      .when(lookup({ kind: 'cannot_tell', detail: 'no lookup' }, 38_000), 38_000)
      .accepts({ type: 'authorized', basis: 'same_key' })
      .when(start(2), 39_000)
      .accepts({ type: 'attempt_started' });
    again
      .when(verdict(2, accepted202), 40_000)
      .accepts({ type: 'accepted', attempt: 2 })
      .when(poll(givenUp, 42_000), 42_000)
      .accepts(
        { type: 'attempt_not_executed', attempt: 2 },
        { type: 'outcome_unknown', cause: 'earlier_attempt_unknown' },
      );
  });

  it('goes to a person when nobody says in time what became of it', () => {
    accepted().when(poll(pending, 60_900), 60_900).accepts({ type: 'dead_lettered', reason: 'poll_deadline' });
  });

  it('that was found to be done after all is a correction', () => {
    accepted()
      .when(poll(pending, 60_900), 60_900)
      .accepts({ type: 'dead_lettered' })
      .when(poll(done, 60_800), 61_000)
      .accepts({ type: 'corrected', finding: 'executed' }, { type: 'committed' });
    accepted()
      .when(poll(givenUp, 2_900), 3_000)
      .accepts({ type: 'attempt_not_executed' }, { type: 'failed' })
      .when(poll(done, 2_900), 3_100)
      .isUnchanged();
  });

  it('is not disturbed by an answer that comes twice, or too late', () => {
    const committed = accepted().when(poll(done, 2_900), 3_000).accepts({ type: 'committed' });
    committed.when(poll(done, 2_900), 3_001).isUnchanged();
    committed.when(poll(givenUp, 2_900), 3_001).isUnchanged();
    accepted().when(lookup(present(), 2_000), 2_000).accepts({ type: 'committed', proof: 'lookup' });
    sending(polled).when(poll(done, 1), 2).isUnchanged();
    unanswered(polled).when(poll(givenUp, 9_000), 9_000).isUnchanged();
  });

  it('is followed again when an operator asks, also where nothing could ever be sent again', () => {
    for (const terms of [polled, { ...polled, guarantee: 'none', lookup: 'none' } as Terms]) {
      accepted(terms)
        .when(poll(pending, 60_900), 60_900)
        .accepts({ type: 'dead_lettered', reason: 'poll_deadline' })
        .when(replay, 70_000)
        .accepts({ type: 'replay_requested' }, { type: 'accepted', attempt: 1, data: { job: 'j1' }, dueAt: 72_000 })
        .isIn('accepted')
        .when(poll(done, 72_000), 72_000)
        .accepts({ type: 'committed', proof: 'poll' });
    }
  });

  it('that nobody can follow nor look for goes to a person at once', () => {
    sending(keyedWithoutLookup)
      .when(verdict(1, accepted202), 900)
      .accepts({ type: 'accepted' }, { type: 'dead_lettered', reason: 'no_way_to_tell' });
  });

  it('that only reads counts as unanswered instead', () => {
    sending({ ...read, poll: polled.poll })
      .when(verdict(1, accepted202), 900)
      .accepts({ type: 'attempt_not_executed' }, { type: 'authorized' });
    sending(polled).when(verdict(1, executed()), 900).accepts({ type: 'committed' });
    sending(polled).when(verdict(1, silence), 900).accepts({ type: 'outcome_unknown' });
  });
});
