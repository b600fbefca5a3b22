import type { JsonObject } from '@intendant/intent';
import { CredentialUnavailable } from './credential.js';
import type { OAuthClient } from './credential-rules.js';
import { EgressRefused } from './egress.js';
import { type ExchangeResult, exchange } from './exchange.js';
import { parseBody } from './json-body.js';
import type { Pools } from './pools.js';
import { codeOf } from './transport-errors.js';

/** An attempt's lease has three seconds for all that comes before its request; an answer later than that is too late. */
const limits = { connectMs: 2_000, callMs: 3_000, maxBytes: 64 * 1024 };
/** Of a token whose lifetime the server does not tell (RFC 6749, 5.1). */
const unknownLifetimeMs = 60_000;

export interface AccessToken {
  readonly token: string;
  /** From when it was asked for. */
  readonly lifetimeMs: number;
}

/**
 * Asks a token endpoint for an access token, once.
 *
 * @throws CredentialUnavailable; the message says why and repeats nothing that was sent or answered but an error code
 * @throws EgressRefused
 */
export async function requestToken(pools: Pools, client: OAuthClient): Promise<AccessToken> {
  const url = new URL(client.tokenUrl);
  const pool = pools.get(url.origin, limits.connectMs);
  if (pool === null) throw new CredentialUnavailable('shutting down');
  const body = new URLSearchParams({ grant_type: 'client_credentials' });
  if (client.scope !== null) body.set('scope', client.scope);
  if (client.audience !== null) body.set('audience', client.audience);
  const headers = ['Content-Type', 'application/x-www-form-urlencoded', 'Accept', 'application/json'];
  if (client.auth === 'basic') headers.push('Authorization', basic(client));
  else {
    body.set('client_id', client.clientId);
    body.set('client_secret', client.clientSecret);
  }
  const request = {
    origin: url.origin,
    method: 'POST',
    path: url.pathname + url.search,
    headers,
    body: body.toString(),
    attemptId: null,
  } as const;
  return readToken(await exchange(pool, request, { ...limits, mayStart: () => true }), url.host);
}

/** RFC 6749, 2.3.1: each part is form-encoded first. */
function basic({ clientId, clientSecret }: OAuthClient): string {
  const [id, secret] = [clientId, clientSecret].map((text) => new URLSearchParams({ x: text }).toString().slice(2));
  return `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
}

function readToken(result: ExchangeResult, host: string): AccessToken {
  const failed = (why: string) => new CredentialUnavailable(`the token endpoint at ${host} ${why}`);
  if (result.kind === 'refused') throw failed(result.detail);
  if (result.kind !== 'answer') {
    if (result.error instanceof EgressRefused) throw result.error;
    throw failed(`did not answer: ${codeOf(result.error) || result.kind}`);
  }
  const { status, body, whole } = result.answer;
  const parsed = whole ? parseBody(body) : null;
  const fields = parsed?.ok && typeof parsed.data === 'object' ? ((parsed.data as JsonObject | null) ?? {}) : {};
  if (status !== 200) {
    // RFC 6749, 5.2: a code from a short list. Everything else of the answer might hold what was sent.
    const code = fields['error'];
    throw failed(`answered ${status}${typeof code === 'string' && /^[a-z_]{1,40}$/.test(code) ? ` ${code}` : ''}`);
  }
  const { access_token: token, token_type: type, expires_in: seconds } = fields;
  if (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token)) throw failed('answered without an access token');
  if (typeof type !== 'string' || type.toLowerCase() !== 'bearer') throw failed('gave a token that is no bearer token');
  const lifetime = Number(seconds);
  return { token, lifetimeMs: seconds !== undefined && lifetime >= 0 ? lifetime * 1000 : unknownLifetimeMs };
}
