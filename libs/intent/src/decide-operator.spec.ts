import { describe, it } from 'vitest';
import {
  admitted,
  given,
  resendAllowed,
  type Scenario,
  sending,
  sendingAgain,
  unanswered,
} from './given.spec-helper.js';
import {
  absent,
  accepted202,
  cancel,
  cannotTell,
  executed,
  expire,
  keyedWithoutProof,
  lookup,
  noGuarantee,
  present,
  proposal,
  read,
  refused,
  replay,
  resolve,
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

function allowedBySameKey(): Scenario {
  return unanswered(keyedWithoutProof)
    .when(lookup(absent, 38_000), 38_000)
    .accepts({ type: 'authorized', basis: 'same_key' });
}

describe('cancel', () => {
  it('ends what was never sent', () => {
    admitted()
      .when(cancel, 1)
      .accepts({ type: 'cancelled', by: 'ann' })
      .isIn('cancelled')
      .when(start(1), 2)
      .rejects('not_authorized');
  });

  it('ends what provably did not happen', () => {
    resendAllowed().when(cancel, 46_000).accepts({ type: 'cancelled' });
  });

  it('does not call cancelled what may have happened (T9)', () => {
    const requested = { type: 'cancel_requested', by: 'ann' } as const;
    sending().when(cancel, 1).accepts(requested).isIn('dispatching');
    sendingAgain().when(cancel, 46_000).accepts(requested).isIn('dispatching');
    unanswered().when(cancel, 9_000).accepts(requested).isIn('unknown');
    allowedBySameKey()
      .when(cancel, 39_000)
      .accepts(requested, { type: 'outcome_unknown', cause: 'cancelled' })
      .isIn('unknown');
    deadLettered().when(cancel, 700_000).rejects('in_flight');
    sending().when(verdict(1, accepted202), 900).accepts({ type: 'accepted' }).when(cancel, 901).rejects('in_flight');
  });

  it('of what is on the wire ends in what really happened', () => {
    const cancelled = (terms?: Terms) => sending(terms).when(cancel, 1).accepts({ type: 'cancel_requested' });
    cancelled().when(verdict(1, executed()), 2).accepts({ type: 'committed' });
    cancelled()
      .when(verdict(1, { ...refused('aborted_unsent', true), sent: false }), 2)
      .accepts({ type: 'attempt_not_executed', sent: false }, { type: 'failed', failure: { code: 'cancelled' } });
    cancelled()
      .when(verdict(1, silence), 2)
      .accepts({ type: 'outcome_unknown' })
      .isIn('unknown', { cancelledBy: 'ann' });
    cancelled(read)
      .when(verdict(1, silence), 2)
      .accepts({ type: 'attempt_not_executed' }, { type: 'failed', failure: { code: 'cancelled' } });
  });

  it('sends nothing again, whatever would allow it otherwise', () => {
    unanswered()
      .when(cancel, 9_000)
      .accepts({ type: 'cancel_requested' })
      .when(lookup(absent, 38_000), 38_000)
      .accepts({ type: 'lookup_absent' })
      .when(lookup(absent, 43_000), 43_000)
      .accepts({ type: 'lookup_absent' }, { type: 'failed', failure: { code: 'cancelled' } })
      .when(verdict(1, executed()), 60_000)
      .accepts({ type: 'corrected', finding: 'executed', breach: 'max_processing' })
      .isIn('failed');
    unanswered(keyedWithoutProof)
      .when(cancel, 9_000)
      .accepts({ type: 'cancel_requested' })
      .when(lookup(absent, 38_000), 38_000)
      .accepts({ type: 'dead_lettered', reason: 'absence_not_provable' });
    unanswered()
      .when(cancel, 9_000)
      .accepts({ type: 'cancel_requested' })
      .when(lookup(present(), 10_000), 10_000)
      .accepts({ type: 'committed' });
  });

  it('is asked for once, and forgotten when an operator replays', () => {
    sending().when(cancel, 1).accepts({ type: 'cancel_requested' }).when(cancel, 2).isUnchanged();
    unanswered()
      .when(cancel, 9_000)
      .accepts({ type: 'cancel_requested' })
      .when(lookup(cannotTell, deadAt), deadAt)
      .accepts({ type: 'dead_lettered' })
      .when(replay, deadAt + 1)
      .accepts({ type: 'replay_requested' })
      .isIn('unknown', { cancelledBy: null });
  });

  it('changes nothing about a closed intent', () => {
    sending().when(verdict(1, executed()), 900).accepts({ type: 'committed' }).when(cancel, 901).isUnchanged();
    admitted().when(cancel, 1).accepts({ type: 'cancelled' }).when(cancel, 2).isUnchanged();
  });
});

describe('expire', () => {
  it('ends the authority of what was not sent, not a moment too soon (S12)', () => {
    admitted()
      .when(expire, runEnd - 1)
      .isUnchanged();
    admitted().when(expire, runEnd).accepts({ type: 'expired' }).isIn('expired');
  });

  it('hands an earlier doubt to a person instead of calling it expired', () => {
    allowedBySameKey().when(expire, runEnd).accepts({ type: 'dead_lettered', reason: 'authority_expired' });
  });

  it('leaves everything that is on its way or closed alone', () => {
    sending().when(expire, runEnd).isUnchanged();
    unanswered().when(expire, runEnd).isUnchanged();
    deadLettered().when(expire, runEnd).isUnchanged();
    admitted().when(cancel, 1).accepts({ type: 'cancelled' }).when(expire, runEnd).isUnchanged();
  });
});

describe('resolve', () => {
  it('closes a dead letter as executed, with its evidence', () => {
    deadLettered()
      .when(resolve('executed'), 640_000)
      .accepts(
        { type: 'resolved', by: 'olga', outcome: 'executed', externalId: 're_9' },
        {
          type: 'committed',
          proof: 'operator',
          attempt: null,
          data: { externalId: 're_9', evidence: 'looked into the ledger' },
        },
      );
  });

  it('believes "executed" at any time', () => {
    unanswered().when(resolve('executed'), 8_001).accepts({ type: 'resolved' }, { type: 'committed' });
    sending()
      .when(verdict(1, accepted202), 900)
      .accepts({ type: 'accepted' })
      .when(resolve('executed'), 901)
      .accepts({ type: 'resolved' }, { type: 'committed' });
  });

  it('believes "not executed" only once the upstream has had its time', () => {
    unanswered().when(resolve('not_executed'), 37_999).rejects('too_early');
    unanswered()
      .when(resolve('not_executed'), 38_000)
      .accepts(
        { type: 'resolved', outcome: 'not_executed' },
        { type: 'failed', failure: { code: 'resolved_not_executed' } },
      )
      .isIn('failed');
    const dead = sending(noGuarantee)
      .when(verdict(1, silence), 8_000)
      .accepts({ type: 'outcome_unknown' }, { type: 'dead_lettered' });
    dead.when(resolve('not_executed'), 37_999).rejects('too_early');
    dead.when(resolve('not_executed'), 38_000).accepts({ type: 'resolved' }, { type: 'failed' });
  });

  it('is refused while something is on its way or may be sent', () => {
    sending().when(resolve('executed'), 1).rejects('in_flight');
    resendAllowed().when(resolve('not_executed'), 46_000).rejects('in_flight');
  });

  it('is refused for a closed intent', () => {
    admitted().when(cancel, 1).accepts({ type: 'cancelled' }).when(resolve('executed'), 2).rejects('not_resolvable');
    given()
      .when(
        {
          type: 'record',
          proposal: proposal(),
          ruling: { allow: false, failure: { code: 'x', message: 'x', details: {} } },
        },
        0,
      )
      .accepts({ type: 'recorded' }, { type: 'denied' })
      .when(resolve('executed'), 1)
      .rejects('not_resolvable');
  });
});
