/**
 * Headers that no tool file can set, in lower case: those by which the runtime keeps its promise (one attempt, one key),
 * those that frame a message, and those that belong to one connection (RFC 9110, 7.6.1), for which HTTP/2 has no place at
 * all: undici dies of them.
 */
export const runtimeHeaders: ReadonlySet<string> = new Set([
  ...['idempotency-key', 'x-attempt-id'],
  ...['host', 'content-length', 'transfer-encoding', 'expect'],
  ...['connection', 'keep-alive', 'proxy-connection', 'te', 'upgrade', 'http2-settings'],
]);
