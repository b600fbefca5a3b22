import { createHmac } from 'node:crypto';

/**
 * The headers of Standard Webhooks (https://github.com/standard-webhooks/standard-webhooks, spec/standard-webhooks.md):
 * one signature for each key, so that a receiver may change its key at a moment of its own.
 *
 * @param id the same on every try
 * @param atMs time of this try, in ms since the epoch
 */
export function signedHeaders(
  secrets: readonly Buffer[],
  id: string,
  atMs: number,
  body: string,
): Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string> {
  const timestamp = String(Math.floor(atMs / 1_000));
  const signed = `${id}.${timestamp}.${body}`;
  const signatures = secrets.map((secret) => `v1,${createHmac('sha256', secret).update(signed).digest('base64')}`);
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
}
