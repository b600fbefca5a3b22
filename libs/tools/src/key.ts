import { createHash } from 'node:crypto';
import type { Session } from '@intendant/contracts';
import type { Json, JsonObject } from '@intendant/intent';
import canonicalize from 'canonicalize';
import type { ToolIntentMessage } from './tool-intent.js';

/** Canonical JSON text (RFC 8785, JCS): the same for the same data, whatever the order of the fields. */
export function canonical(value: Json): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError('only JSON data has a canonical form');
  return text;
}

/**
 * Identity of a request: sha256, base64url, over tenant, run, step and tool; without a step, over tenant, run, tool
 * and the canonical arguments. `args` are the arguments after trusted fields were dropped. A sandbox call is another
 * request than the real one, so that neither is answered from the other.
 */
export function intentKey(
  session: Pick<Session, 'tenant' | 'runId'>,
  message: ToolIntentMessage,
  args: JsonObject,
): string {
  const { tenant, runId } = session;
  // A JSON array keeps the parts apart whatever they contain.
  const parts =
    message.stepId === null
      ? [tenant, runId, 'args', message.tool, canonical(args)]
      : [tenant, runId, 'step', message.stepId, message.tool];
  if (message.sandbox) parts.push('sandbox');
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}

/** Identity of a call without a step that was made `times` before, sha256 in base64url; `key` is that of the first. */
export function repeatedKey(key: string, times: number): string {
  return createHash('sha256')
    .update(JSON.stringify(['again', key, times]))
    .digest('base64url');
}

/** Digest of the canonical arguments, sha256 in hex: same key with another fingerprint is a conflict. */
export function fingerprint(args: JsonObject): string {
  return digest(args);
}

/** sha256 of the canonical form, hex. */
export function digest(value: Json): string {
  return createHash('sha256').update(canonical(value)).digest('hex');
}

/**
 * What two calls of a tenant have in common that have the same values at the same places of their arguments, sha256 in
 * base64url. `purpose` keeps digests apart that mean different things; a sandbox call is never the same as a real one.
 */
export function sameness(
  purpose: 'operation' | 'likeness' | 'gist',
  { tenant, tool, sandbox }: { readonly tenant: string; readonly tool: string; readonly sandbox: boolean },
  values: readonly Json[],
): string {
  return createHash('sha256')
    .update(JSON.stringify([purpose, tenant, tool, sandbox, canonical(values)]))
    .digest('base64url');
}
