import { describe, it } from 'vitest';
import { admitted, given } from './given.spec-helper.js';
import {
  cancel,
  expire,
  keyed,
  leaseEnds,
  lookup,
  present,
  proposal,
  record,
  replay,
  resolve,
  start,
} from './samples.spec-helper.js';

describe('record', () => {
  it('authorizes what the policy allows', () => {
    given()
      .when(record(), 0)
      .accepts({ type: 'recorded' }, { type: 'authorized', basis: 'admitted', notBefore: null, resendUntil: null })
      .isIn('authorized', { version: 2, attempts: [], maxAttempts: keyed.maxAttempts });
  });

  it('denies what the policy refuses and keeps its reason', () => {
    const failure = { code: 'permission_denied', message: 'payments:refund is missing', details: {} };
    given()
      .when({ type: 'record', proposal: proposal(), ruling: { allow: false, failure } }, 0)
      .accepts({ type: 'recorded' }, { type: 'denied', failure })
      .isIn('denied', { failure });
  });

  it('takes the same request for a redelivery', () => {
    admitted().when(record(), 5).isUnchanged();
  });

  it('takes the same request for a redelivery even when everything is over', () => {
    admitted().when(cancel, 1).accepts({ type: 'cancelled' }).when(record(), 5).isUnchanged();
  });

  it('refuses the same key with other arguments', () => {
    admitted()
      .when(record(keyed, { fingerprint: 'args-2' }), 5)
      .rejects('idempotency_conflict');
  });

  it.each([start(1), leaseEnds, lookup(present(), 0), cancel, expire, replay, resolve('executed')])(
    'must come before $type',
    (command) => {
      given().when(command, 0).rejects('no_such_intent');
    },
  );
});
