import type { Facts } from '@intendant/contracts';
import type { Call } from './call.js';
import type { Objection } from './objection.js';

/** Token buckets: each call takes one of each, and they fill up again steadily. */
export function tooFast({ rates }: Call, { tokens }: Facts): Objection | null {
  const waits = rates.map((rate) => ({ rate, ms: Math.max(0, 1 - (tokens.get(rate.id) ?? 0)) / rate.perMs }));
  const longest = waits.reduce<(typeof waits)[number] | null>(
    (worst, each) => (each.ms > (worst?.ms ?? 0) ? each : worst),
    null,
  );
  if (longest === null) return null;
  const retryAfterMs = Math.ceil(longest.ms);
  return {
    kind: 'refuse',
    code: 'rate_limited',
    rule: 'rate',
    message: `Too many calls: ${longest.rate.title} is as much as this tenant may do. Nothing was recorded; make the same call again in ${Math.ceil(retryAfterMs / 1_000)} s.`,
    inputs: { limit: longest.rate.title, retryAfterMs },
    remedy: `${retryAfterMs} ms of time`,
  };
}
