import type { AnswerHeaders } from './exchange.js';

/** Longest wait taken from an upstream, in ms: beyond it the header is a mistake and the tool's own backoff holds. */
const longest = 7 * 24 * 3_600_000;

/**
 * `Retry-After` in ms (RFC 9110, 10.2.3): seconds, or a date, which is measured against the answer's own `Date`
 * so that no clock of ours has to agree with the upstream's. Null when absent or unusable.
 */
export function retryAfterMs(headers: AnswerHeaders): number | null {
  const value = single(headers['retry-after']);
  if (value === null) return null;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : untilDate(value, single(headers.date));
  return Number.isFinite(ms) && ms <= longest ? Math.max(0, ms) : null;
}

function untilDate(value: string, date: string | null): number {
  // Without the zone, `Date.parse` would read local time.
  return date !== null && value.endsWith('GMT') ? Date.parse(value) - Date.parse(date) : Number.NaN;
}

function single(value: string | string[] | undefined): string | null {
  return (Array.isArray(value) ? value[0] : value)?.trim() ?? null;
}
