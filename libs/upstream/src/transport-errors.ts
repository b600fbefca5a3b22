/** Why a request that never left did not leave. */
export interface UnsentRule {
  readonly cause: string;
  readonly transient: boolean;
}

const mapping: UnsentRule = { cause: 'request_mapping', transient: false };
const dns: UnsentRule = { cause: 'dns_failed', transient: true };
const unreachable: UnsentRule = { cause: 'unreachable', transient: true };
const connectTimeout: UnsentRule = { cause: 'connect_timeout', transient: true };
const exhausted: UnsentRule = { cause: 'local_resources_exhausted', transient: true };
const reset: UnsentRule = { cause: 'reset_before_send', transient: true };
const closed: UnsentRule = { cause: 'client_closed', transient: true };
const egress: UnsentRule = { cause: 'egress_refused', transient: false };
const tls: UnsentRule = { cause: 'tls_failed', transient: false };

/**
 * Causes of errors that came before any header byte was handed to the socket, by error code.
 * The verdict is `not_executed` for all of them, listed or not: it rests on the bytes, not on the code, because
 * one code (`ECONNRESET`, `ETIMEDOUT`) stands for "nothing sent" and for "fully executed" alike.
 */
export const unsentCauses: Readonly<Record<string, UnsentRule>> = {
  UND_ERR_INVALID_ARG: mapping,
  UND_ERR_NOT_SUPPORTED: mapping,
  UND_ERR_REQ_CONTENT_LENGTH_MISMATCH: mapping,
  ERR_INVALID_URL: mapping,
  ENOTFOUND: dns,
  EAI_AGAIN: dns,
  ECONNREFUSED: { cause: 'connect_refused', transient: true },
  EHOSTUNREACH: unreachable,
  ENETUNREACH: unreachable,
  ETIMEDOUT: connectTimeout,
  UND_ERR_CONNECT_TIMEOUT: connectTimeout,
  EADDRNOTAVAIL: exhausted,
  EMFILE: exhausted,
  ENFILE: exhausted,
  ECONNRESET: reset,
  EPIPE: reset,
  UND_ERR_SOCKET: reset,
  UND_ERR_CLOSED: closed,
  UND_ERR_DESTROYED: closed,
  EPROTO: tls,
  EGRESS_REFUSED: egress,
};

/** OpenSSL and Node name certificate and handshake failures by these families. */
const tlsFamilies = /^(ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|HOSTNAME_MISMATCH|INVALID_CA)/;

/** Causes of errors after header bytes were handed to the socket; the verdict is `unknown` for all, listed or not. */
export const sentCauses: Readonly<Record<string, string>> = {
  ECONNRESET: 'reset_after_send',
  EPIPE: 'reset_after_send',
  UND_ERR_SOCKET: 'reset_after_send',
  // HTTP/2: one stream was reset, in words of Node or of undici.
  ERR_HTTP2_STREAM_ERROR: 'reset_after_send',
  UND_ERR_INFO: 'reset_after_send',
  ERR_HTTP2_ERROR: 'bad_response',
  ETIMEDOUT: 'connection_lost',
  EHOSTUNREACH: 'connection_lost',
  ENETUNREACH: 'connection_lost',
  UND_ERR_HEADERS_OVERFLOW: 'bad_response',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'answer_cut_short',
};

export function unsentRule(error: unknown): UnsentRule {
  const code = codeOf(error);
  if (tlsFamilies.test(code)) return tls;
  return unsentCauses[code] ?? { cause: 'not_sent', transient: true };
}

/** `status`: of the answer that had begun to arrive, null when nothing had. */
export function sentCause(error: unknown, status: number | null): string {
  const code = codeOf(error);
  if (code.startsWith('HPE_')) return 'bad_response';
  if (status !== null) return 'answer_cut_short';
  return sentCauses[code] ?? 'failed_after_send';
}

/** The code of an error; of several failed addresses (`AggregateError`), that of the first. */
export function codeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  if (typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string')
    return error.code;
  // undici names few of its parser errors by code, all of them by class.
  return error instanceof Error && error.name === 'HTTPParserError' ? 'HPE_PROTOCOL' : '';
}
