import { describe, it } from 'vitest';
import { admitted, asking, at, given, resendAllowed, sending, unanswered } from './given.spec-helper.js';
import {
  absent,
  accepted202,
  approve,
  askedUntil,
  authorized,
  executed,
  keyed,
  keyedWithoutProof,
  lookup,
  lookupOnly,
  recorded,
  refused,
  request,
  runEnd,
  silence,
  start,
  startVerified,
  verdict,
} from './samples.spec-helper.js';

describe('start_attempt', () => {
  it('opens attempt 1 under a lease', () => {
    admitted()
      .when(start(1), 50)
      .accepts({ type: 'attempt_started', attempt: 1, attemptId: 'try-1', leaseUntil: 50 + keyed.leaseMs })
      .isIn('dispatching', { attempt: { number: 1, verdict: 'open', startedAt: 50 } });
  });

  it('does not open a second attempt beside the first', () => {
    sending().when(start(2), 50).rejects('not_authorized');
  });

  it('does not open an attempt while the outcome of the last one is unknown', () => {
    unanswered().when(start(2), 1_000_000).rejects('not_authorized');
  });

  it('numbers the next attempt after the last and keeps the key', () => {
    const key = admitted().intent?.proposal.key;
    resendAllowed()
      .when(start(2), 46_000)
      .accepts({ type: 'attempt_started', attempt: 2, attemptId: 'try-2' })
      .isIn('dispatching', { proposal: { key }, attempts: [{ number: 1 }, { number: 2 }] });
  });

  it('does not use an attempt id twice when the command is delivered again', () => {
    resendAllowed().when(start(1), 46_000).rejects('not_authorized');
  });

  it('waits for the backoff', () => {
    const waiting = given(at(0, recorded()), at(0, authorized('not_executed', 2_000)));
    waiting.when(start(1), 1_999).rejects('not_due');
    waiting.when(start(1), 2_000).accepts({ type: 'attempt_started' });
  });

  it('sends nothing at the end of the authority, and calls that expired because nothing was sent', () => {
    admitted().when(start(1), runEnd).accepts({ type: 'expired' }).isIn('expired');
    admitted()
      .when(start(1), runEnd - 1)
      .accepts({ type: 'attempt_started' });
  });

  it('asks a person when the authority ends before a resend under the same key', () => {
    const terms = { ...keyedWithoutProof, retentionMs: 2 * runEnd };
    unanswered(terms)
      .when(lookup(absent, 38_000), 38_000)
      .accepts({ type: 'authorized', basis: 'same_key' })
      .when(start(2), runEnd)
      .accepts({ type: 'dead_lettered', reason: 'authority_expired' });
  });

  it('calls a proven absence expired, not unknown, when the authority ends', () => {
    resendAllowed(lookupOnly).when(start(2), runEnd).accepts({ type: 'expired' });
  });

  it('reconciles again instead of sending a key the upstream may have forgotten', () => {
    const until = keyed.retentionMs - keyed.leaseMs;
    resendAllowed()
      .isIn('authorized', { resendUntil: until })
      .when(start(2), until)
      .accepts({ type: 'outcome_unknown', cause: 'resend_window_closed', settleAt: until + keyed.settleMs })
      .isIn('unknown', { absences: 0, absentAt: null });
  });

  it('lets a key be used only as long as a request under its lease arrives before it is forgotten', () => {
    const until = keyed.retentionMs - keyed.leaseMs;
    resendAllowed()
      .when(start(2), until - 1)
      .accepts({ type: 'attempt_started', leaseUntil: keyed.retentionMs - 1 });
  });

  it('is over for good after a refusal', () => {
    sending()
      .when(verdict(1, refused('http_422')), 100)
      .accepts({ type: 'attempt_not_executed' }, { type: 'failed' })
      .when(start(2), 200)
      .rejects('not_authorized');
  });
});

describe('start_attempt of what needs a person', () => {
  const started = { type: 'attempt_started' } as const;
  /** Version 4: olga has agreed to d1. */
  const agreed = () => asking().when(approve('olga'), 100).accepts({ type: 'approved' }, { type: 'authorized' });
  const underWay = () =>
    agreed()
      .when(startVerified(1, 4, ['d1']), 200)
      .accepts({ ...started, attempt: 1 });
  /** Version 7. */
  const turnedAway = () =>
    underWay()
      .when(verdict(1, refused('http_503', true)), 700)
      .accepts({ type: 'attempt_not_executed' }, { type: 'authorized', notBefore: 1_200 });

  it('is refused until somebody has looked at the intent as it is', () => {
    agreed().when(start(1), 200).rejects('not_verified');
    agreed()
      .when(startVerified(1, 3, ['d1']), 200)
      .rejects('not_verified');
    agreed()
      .when(startVerified(1, 5, ['d1']), 200)
      .rejects('not_verified');
    asking().when(start(1), 200).rejects('not_verified');
    asking()
      .when(startVerified(1, 2, ['d1']), 200)
      .rejects('not_approved');
  });

  it('needs no look where nobody has to agree', () => {
    admitted().when(start(1), 50).accepts(started);
    admitted()
      .when(startVerified(1, 1, []), 50)
      .accepts(started);
  });

  it('asks about it as it is now where it is not what was agreed to, and why', () => {
    agreed()
      .when(startVerified(1, 4, [], request('d2')), 200)
      .accepts({ type: 'approval_requested', request: request('d2'), differs: ['the policy files'] })
      .isIn('awaiting_approval', {
        attempts: [],
        approvals: { requests: [{ digest: 'd1' }, { digest: 'd2' }], given: [{ by: 'olga', digest: 'd1' }] },
      });
  });

  it('goes by an agreement to an older request for exactly that, while people think about the newest', () => {
    const asked = agreed()
      .when(startVerified(1, 4, [], request('d2')), 200)
      .accepts({ type: 'approval_requested' });
    asked.when(startVerified(1, 5, ['d2']), 300).rejects('not_approved');
    asked.when(startVerified(1, 5, ['d1']), 300).accepts({ type: 'authorized', basis: 'approved' }, started);
  });

  it('asks again what was asked before where it is about that again, and never twice about the same', () => {
    const two = { quorum: 2 };
    const asked = agreed()
      .when(startVerified(1, 4, [], request('d2', two)), 200)
      .accepts({ type: 'approval_requested' });
    // Dispatchers with d3 and such with d2 look in turns.
    const third = asked
      .when(startVerified(1, 5, [], request('d3')), 300)
      .accepts({ type: 'approval_requested', request: request('d3') });
    third.when(startVerified(1, 6, ['d2']), 400).rejects('not_approved');
    third
      .when(approve('pete', 'd3'), 500)
      .accepts({ type: 'approved' }, { type: 'authorized' })
      .when(startVerified(1, 8, ['d2']), 600)
      .accepts({ type: 'approval_requested', request: request('d2', two) })
      .isIn('awaiting_approval', {
        approvals: { requests: [{ digest: 'd1' }, { digest: 'd3' }, { digest: 'd2' }] },
      });
  });

  it('asks those who have not agreed yet where an older agreement had let it go out, and that is not enough now', () => {
    const again = agreed()
      .when(startVerified(1, 4, [], request('d2')), 200)
      .accepts({ type: 'approval_requested' })
      .when(startVerified(1, 5, ['d1']), 300)
      .accepts({ type: 'authorized' }, started)
      .when(verdict(1, refused('http_503', true)), 400)
      .accepts({ type: 'attempt_not_executed' }, { type: 'authorized' });
    again
      .when(startVerified(2, 9, ['d2']), 2_000)
      .accepts({ type: 'approval_requested', request: request('d2') })
      .when(approve('pete', 'd2'), 2_100)
      .accepts({ type: 'approved' }, { type: 'authorized' });
  });

  it('is for one attempt at a time', () => {
    underWay()
      .when(startVerified(2, 5, ['d1']), 300)
      .rejects('not_authorized');
    underWay()
      .when(startVerified(1, 5, ['d1']), 300)
      .rejects('not_authorized');
    for (const ending of [executed(), silence, accepted202]) {
      const over = decided(ending);
      over.when(startVerified(2, 6, ['d1']), 800).rejects('not_authorized');
    }
  });

  it('serves the retry of what provably did not happen, as long as it counts', () => {
    turnedAway()
      .when(startVerified(2, 7, ['d1']), 1_199)
      .rejects('not_due');
    turnedAway()
      .when(startVerified(2, 7, ['d1']), askedUntil - 1)
      .accepts({ ...started, attempt: 2 });
    turnedAway()
      .when(startVerified(2, 7, ['d1']), askedUntil)
      .accepts({ type: 'denied', failure: { code: 'approval_expired' } });
  });

  it('completes what may have happened after its time, too', () => {
    const terms = { ...keyedWithoutProof, retentionMs: 2 * askedUntil };
    const resend = asking({}, terms)
      .when(approve('olga'), 100)
      .accepts({ type: 'approved' }, { type: 'authorized' })
      .when(startVerified(1, 4, ['d1']), 200)
      .accepts(started)
      .when(verdict(1, silence), 8_000)
      .accepts({ type: 'outcome_unknown' })
      .when(lookup(absent, 38_000), 38_000)
      .accepts({ type: 'authorized', basis: 'same_key' });
    resend.when(startVerified(2, 7, []), askedUntil + 1).rejects('not_approved');
    resend.when(startVerified(2, 7, ['d1']), askedUntil + 1).accepts({ ...started, attempt: 2 });
  });

  it('does not go by an older agreement whose own time is over', () => {
    const asked = asking({ expiresAt: 1_000 })
      .when(approve('olga'), 100)
      .accepts({ type: 'approved' }, { type: 'authorized' })
      .when(startVerified(1, 4, [], request('d2')), 200)
      .accepts({ type: 'approval_requested' });
    asked.when(startVerified(1, 5, ['d1']), 999).accepts({ type: 'authorized' }, started);
    asked.when(startVerified(1, 5, ['d1']), 1_000).rejects('not_approved');
  });

  it('asks a person once a grant that stood in for one is over', () => {
    const granted = (renewed: ReturnType<typeof request> | null) => ({
      ...startVerified(1, 2, [], renewed),
      ...{ type: 'start_attempt' as const, attemptId: 'try-1', grantOver: true },
    });
    admitted().when(granted(request()), 50).accepts({ type: 'approval_requested', request: request() });
    admitted().when(granted(null), 50).rejects('not_approved');
    admitted().when({ type: 'start_attempt', attemptId: 'try-1', grantOver: true }, 50).rejects('not_verified');
  });

  function decided(ending: ReturnType<typeof executed>) {
    const then = underWay().when(verdict(1, ending), 700);
    const type = {
      executed: 'committed',
      unknown: 'outcome_unknown',
      accepted: 'accepted',
      not_executed: 'failed',
    } as const;
    return then.accepts({ type: type[ending.kind] });
  }
});
