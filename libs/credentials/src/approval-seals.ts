import { createHmac, timingSafeEqual } from 'node:crypto';
import { type TokenKey, tokenKey } from './token-keys.js';

/**
 * Keyed digests of what people are asked, so that nobody who can write to the database can have something else sent than
 * what they have agreed to. Who has agreed is not sealed: that is the gateway's word. Each names the key that it is made with, so that keys can be changed while requests wait.
 */
export class ApprovalSeals {
  private readonly sealing: TokenKey;
  private readonly keys: readonly TokenKey[];

  /**
   * `secret`: at least 32 bytes of text. `others` check and never seal: those of before, or of next time.
   *
   * @throws ConfigError
   */
  constructor(secret: string, others: readonly string[] = []) {
    this.sealing = tokenKey(secret, 'INTENDANT_APPROVAL_SECRET');
    this.keys = [this.sealing, ...others.map((other) => tokenKey(other, 'INTENDANT_APPROVAL_SECRET_PREVIOUS'))];
  }

  /** `<key id>.<HMAC-SHA-256, base64url>` */
  seal(text: string): string {
    return sealWith(this.sealing, text);
  }

  /** Whether `digest` was made of this text, with a key that is known here; compared in constant time. */
  fits(digest: string, text: string): boolean {
    const given = Buffer.from(digest);
    return this.keys.some((key) => {
      const right = Buffer.from(sealWith(key, text));
      return right.length === given.length && timingSafeEqual(right, given);
    });
  }
}

function sealWith({ kid, key }: TokenKey, text: string): string {
  return `${kid}.${createHmac('sha256', key).update(text).digest('base64url')}`;
}
