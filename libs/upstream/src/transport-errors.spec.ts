import { expect, test } from 'vitest';
import { failureVerdict } from './failure-verdict.js';

const failed = (code: string, sent: boolean, syscall = 'connect') =>
  failureVerdict({
    kind: 'failed',
    sent,
    status: null,
    error: Object.assign(new Error(`${syscall} ${code}`), { code, syscall }),
  });

test.each([
  ['ENOTFOUND', 'dns_failed', true],
  ['EAI_AGAIN', 'dns_failed', true],
  ['ECONNREFUSED', 'connect_refused', true],
  ['EHOSTUNREACH', 'unreachable', true],
  ['ENETUNREACH', 'unreachable', true],
  ['ETIMEDOUT', 'connect_timeout', true],
  ['UND_ERR_CONNECT_TIMEOUT', 'connect_timeout', true],
  ['EADDRNOTAVAIL', 'local_resources_exhausted', true],
  ['EMFILE', 'local_resources_exhausted', true],
  ['CERT_HAS_EXPIRED', 'tls_failed', false],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls_failed', false],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'tls_failed', false],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls_failed', false],
  ['ECONNRESET', 'reset_before_send', true],
  ['EPIPE', 'reset_before_send', true],
  ['UND_ERR_SOCKET', 'reset_before_send', true],
  ['UND_ERR_INVALID_ARG', 'request_mapping', false],
  ['E_NEVER_HEARD_OF', 'not_sent', true],
])('%s before the first byte means not executed', (code, cause, transient) => {
  expect(failed(code, false)).toMatchObject({ kind: 'not_executed', cause, transient, sent: false });
});

test.each([
  ['ECONNRESET', 'reset_after_send'],
  ['EPIPE', 'reset_after_send'],
  ['UND_ERR_SOCKET', 'reset_after_send'],
  ['ERR_HTTP2_STREAM_ERROR', 'reset_after_send'],
  ['UND_ERR_INFO', 'reset_after_send'],
  ['ERR_HTTP2_ERROR', 'bad_response'],
  ['ETIMEDOUT', 'connection_lost'],
  ['EHOSTUNREACH', 'connection_lost'],
  ['HPE_INVALID_CONSTANT', 'bad_response'],
  ['UND_ERR_HEADERS_OVERFLOW', 'bad_response'],
  ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'answer_cut_short'],
  ['E_NEVER_HEARD_OF', 'failed_after_send'],
])('%s after the first byte means unknown', (code, cause) => {
  expect(failed(code, true, 'read')).toMatchObject({ kind: 'unknown', cause });
});

test('the errors of several addresses are named by the first', () => {
  const error = new AggregateError(
    [Object.assign(new Error('connect ::1'), { code: 'ECONNREFUSED' }), new Error('other')],
    '',
  );
  const verdict = failureVerdict({ kind: 'failed', sent: false, status: null, error });
  expect(verdict).toMatchObject({
    kind: 'not_executed',
    cause: 'connect_refused',
    detail: 'ECONNREFUSED: connect ::1; other',
  });
});
