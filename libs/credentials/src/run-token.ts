import { Refusal, runIdPattern, type Session, tenantPattern } from '@intendant/contracts';
import { wallClock } from '@intendant/runtime';
import { decodeProtectedHeader, errors, type JWTPayload, jwtVerify, SignJWT } from 'jose';
import { type TokenKey, tokenKey } from './token-keys.js';

const algorithm = 'HS256';
const audience = 'intendant';
/** Verified tokens are remembered so that a busy run pays for the signature once. */
const cacheSize = 10_000;
/** No token of a run is longer: 256 permissions of 200 characters each, in UTF-8 and base64url. */
const longestToken = 300_000;

/**
 * Short-lived JWTs (RFC 7519) that say on whose behalf a run acts. The only source of identity of an intent. Each names
 * the key that it is signed with, so that keys can be changed while tokens live.
 */
export class RunTokens {
  private readonly signing: TokenKey;
  private readonly keys: readonly TokenKey[];
  private readonly verified = new Map<string, Session>();

  /**
   * `secret`: at least 32 bytes of text (RFC 7518, section 3.2). `others` verify and never sign: those that were signed
   * with before, or will be next.
   *
   * @throws ConfigError
   */
  constructor(secret: string, others: readonly string[] = []) {
    this.signing = tokenKey(secret, 'INTENDANT_TOKEN_SECRET');
    this.keys = [this.signing, ...others.map((other) => tokenKey(other, 'INTENDANT_TOKEN_SECRET_PREVIOUS'))];
  }

  issue(session: Session): Promise<string> {
    const { tenant, runId, user, permissions, phase, profile, sandbox, expiresAt } = session;
    return new SignJWT({ tenant, run: runId, permissions, phase, profile, ...(sandbox && { sandbox }) })
      .setProtectedHeader({ alg: algorithm, typ: 'JWT', kid: this.signing.kid })
      .setSubject(user)
      .setAudience(audience)
      .setIssuedAt(Math.floor(wallClock() / 1000))
      .setExpirationTime(Math.floor(expiresAt / 1000))
      .sign(this.signing.key);
  }

  /**
   * `at`: when the token was used, in ms since the epoch; for a message that waited, when it was sent.
   * @throws Refusal `unauthenticated` that says what is wrong with the token and never repeats it
   */
  async verify(token: string, at = wallClock()): Promise<Session> {
    const known = this.verified.get(token);
    if (known) {
      if (known.expiresAt > at) return known;
      throw expired();
    }
    const session = toSession(await this.decode(token, at));
    if (this.verified.size >= cacheSize) this.verified.clear();
    this.verified.set(token, session);
    return session;
  }

  private async decode(token: string, at: number): Promise<JWTPayload> {
    const options = { algorithms: [algorithm], audience, currentDate: new Date(at) };
    for (const { key } of this.keysFor(token)) {
      try {
        return (await jwtVerify(token, key, options)).payload;
      } catch (error) {
        if (error instanceof errors.JWTExpired) throw expired();
        // Only a token from before, which does not name its key, has another chance.
        if (!(error instanceof errors.JWSSignatureVerificationFailed)) break;
      }
    }
    throw new Refusal('unauthenticated', 'The run token is not valid: it was not issued here, or it was changed.');
  }

  /** The key that the token names; all where it names none, as tokens did before; none where that is not ours. */
  private keysFor(token: string): readonly TokenKey[] {
    const header = token.length > longestToken ? null : headerOf(token);
    if (header === null) return [];
    return header.kid === undefined ? this.keys : this.keys.filter(({ kid }) => kid === header.kid);
  }
}

function headerOf(token: string): { readonly kid?: unknown } | null {
  try {
    return decodeProtectedHeader(token);
  } catch {
    return null;
  }
}

function expired(): Refusal {
  return new Refusal('unauthenticated', 'The run token has expired. The agent runtime has to open a new run.');
}

function toSession(payload: JWTPayload): Session {
  const { tenant, run, sub, permissions, phase, profile, sandbox, exp } = payload;
  const sound =
    typeof tenant === 'string' &&
    tenantPattern.test(tenant) &&
    typeof run === 'string' &&
    runIdPattern.test(run) &&
    typeof sub === 'string' &&
    Array.isArray(permissions) &&
    permissions.every((p) => typeof p === 'string') &&
    (phase === null || typeof phase === 'string') &&
    (profile === 'interactive' || profile === 'batch') &&
    (sandbox === undefined || sandbox === true) &&
    typeof exp === 'number';
  if (!sound) throw new Refusal('unauthenticated', 'The run token lacks a claim, or has one of the wrong kind.');
  const session: Session = { tenant, runId: run, user: sub, permissions, phase, profile, expiresAt: exp * 1000 };
  return sandbox ? { ...session, sandbox } : session;
}
