import type { IncomingMessage } from 'node:http';
import { hashBody } from './json.js';
import type { Ledger } from './ledger.js';
import type { EntryOf } from './ledger-entry.js';

function header(request: IncomingMessage, name: string): string | null {
  const value = request.headers[name];
  return typeof value === 'string' ? value : null;
}

/** Writes down that a request arrived, before anything is done about it. */
export function recordRequest(
  ledger: Ledger,
  request: IncomingMessage,
  path: string,
  body: Buffer,
): EntryOf<'request'> {
  return ledger.append({
    kind: 'request',
    path,
    method: request.method ?? '',
    key: header(request, 'idempotency-key'),
    attemptId: header(request, 'x-attempt-id'),
    argsHash: hashBody(body),
    bodySize: body.length,
  });
}
