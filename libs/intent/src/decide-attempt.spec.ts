import { describe, it } from 'vitest';
import { admitted, at, given, resendAllowed, sending, unanswered } from './given.spec-helper.js';
import {
  absent,
  authorized,
  keyed,
  keyedWithoutProof,
  lookup,
  lookupOnly,
  recorded,
  refused,
  runEnd,
  start,
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
