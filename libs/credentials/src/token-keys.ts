import { createHash } from 'node:crypto';
import { ConfigError } from '@intendant/runtime';

/** A key for HMAC-SHA-256 that is shorter than its output weakens it (RFC 7518, section 3.2). */
const leastBytes = 32;

/** A secret that tokens are signed with, and how tokens name it. */
export interface TokenKey {
  /** First 48 bits of the secret's SHA-256, in base64url: it tells keys apart, and tells nothing of a random secret. */
  readonly kid: string;
  readonly key: Uint8Array;
}

/** @throws ConfigError naming the setting where the secret is too short */
export function tokenKey(secret: string, setting: string): TokenKey {
  const key = new TextEncoder().encode(secret);
  if (key.length < leastBytes) {
    throw new ConfigError(
      `${setting} must be at least ${leastBytes} bytes long; make one with: openssl rand -base64 32`,
    );
  }
  return { kid: createHash('sha256').update(key).digest('base64url').slice(0, 8), key };
}

/** Such as `INTENDANT_TOKEN_SECRET_PREVIOUS`: one secret, or several with commas between. @throws ConfigError */
export function parsePreviousSecrets(text: string | undefined, setting = 'INTENDANT_TOKEN_SECRET_PREVIOUS'): string[] {
  const secrets = (text ?? '')
    .split(',')
    .map((secret) => secret.trim())
    .filter((secret) => secret !== '');
  for (const secret of secrets) tokenKey(secret, `${setting} (each secret between commas)`);
  return secrets;
}
