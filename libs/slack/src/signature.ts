import { createHmac, timingSafeEqual } from 'node:crypto';

/** A request that is older, or from later, may be one that somebody has kept. */
const windowSeconds = 5 * 60;

export type SlackHeaders = Readonly<Record<string, string | string[] | undefined>>;

/**
 * Whether Slack sent this request just now (https://docs.slack.dev/authentication/verifying-requests-from-slack).
 *
 * @param headers with names in lower case
 * @param rawBody as it came, before anybody has parsed it
 * @param nowMs in ms since the epoch
 */
export function verifySlackSignature(secret: string, headers: SlackHeaders, rawBody: Buffer, nowMs: number): boolean {
  const timestamp = headers['x-slack-request-timestamp'];
  const signature = headers['x-slack-signature'];
  if (typeof timestamp !== 'string' || typeof signature !== 'string' || !/^\d{1,12}$/.test(timestamp)) return false;
  if (Math.abs(nowMs / 1_000 - Number(timestamp)) > windowSeconds) return false;
  const hmac = createHmac('sha256', secret).update(`v0:${timestamp}:`).update(rawBody);
  const expected = Buffer.from(`v0=${hmac.digest('hex')}`);
  const given = Buffer.from(signature);
  return given.length === expected.length && timingSafeEqual(given, expected);
}
