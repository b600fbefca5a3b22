import { Refusal, runIdPattern, type Session, tenantPattern } from '@intendant/contracts';
import { ConfigError, wallClock } from '@intendant/runtime';
import { errors, type JWTPayload, jwtVerify, SignJWT } from 'jose';

const algorithm = 'HS256';
const audience = 'intendant';
/** Verified tokens are remembered so that a busy run pays for the signature once. */
const cacheSize = 10_000;

/** Short-lived JWTs (RFC 7519) that say on whose behalf a run acts. The only source of identity of an intent. */
export class RunTokens {
  private readonly key: Uint8Array;
  private readonly verified = new Map<string, Session>();

  /** `secret`: at least 32 bytes of text (RFC 7518, section 3.2). @throws ConfigError */
  constructor(secret: string) {
    this.key = new TextEncoder().encode(secret);
    if (this.key.length < 32) throw new ConfigError('INTENDANT_TOKEN_SECRET must be at least 32 bytes long');
  }

  issue(session: Session): Promise<string> {
    const { tenant, runId, user, permissions, phase, profile, sandbox, expiresAt } = session;
    return new SignJWT({ tenant, run: runId, permissions, phase, profile, ...(sandbox && { sandbox }) })
      .setProtectedHeader({ alg: algorithm, typ: 'JWT' })
      .setSubject(user)
      .setAudience(audience)
      .setIssuedAt(Math.floor(wallClock() / 1000))
      .setExpirationTime(Math.floor(expiresAt / 1000))
      .sign(this.key);
  }

  /**
   * `at`: when the token was used, in ms since the epoch; for a message that waited, when it was sent.
   * @throws Refusal `unauthenticated` that says what is wrong with the token and never repeats it
   */
  async verify(token: string, at = wallClock()): Promise<Session> {
    const known = this.verified.get(token);
    if (known) {
      if (known.expiresAt > at) return known;
      throw new Refusal('unauthenticated', 'The run token has expired. The agent runtime has to open a new run.');
    }
    const session = toSession(await this.decode(token, at));
    if (this.verified.size >= cacheSize) this.verified.clear();
    this.verified.set(token, session);
    return session;
  }

  private async decode(token: string, at: number): Promise<JWTPayload> {
    try {
      const { payload } = await jwtVerify(token, this.key, {
        algorithms: [algorithm],
        audience,
        currentDate: new Date(at),
      });
      return payload;
    } catch (error) {
      if (error instanceof errors.JWTExpired) {
        throw new Refusal('unauthenticated', 'The run token has expired. The agent runtime has to open a new run.');
      }
      throw new Refusal('unauthenticated', 'The run token is not valid: it was not issued here, or it was changed.');
    }
  }
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
