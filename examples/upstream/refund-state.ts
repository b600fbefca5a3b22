import type { JsonObject } from './json.js';
import type { Ledger } from './ledger.js';
import type { Answer } from './respond.js';
import { problem } from './respond.js';

/** What has been given back of an order so far; the version changes with every refund of it. */
export interface RefundState {
  readonly refundedCents: number;
  readonly version: number;
}

export function refundState(ledger: Ledger, orderId: string): RefundState {
  const amounts = ledger.entries().flatMap((entry) => {
    if (entry.kind !== 'effect' || entry.resource !== 'refund' || entry.answer['order_id'] !== orderId) return [];
    return [Number(entry.answer['amount_cents'])];
  });
  return { refundedCents: amounts.reduce((sum, each) => sum + each, 0), version: amounts.length };
}

export function etagOf({ version }: RefundState): string {
  return `"${version}"`;
}

/** What a refund would change, and what it would have to find for that. */
export function previewOf(state: RefundState, amountCents: number): Answer {
  const body = {
    before: { refunded_cents: state.refundedCents },
    after: { refunded_cents: state.refundedCents + amountCents },
    version: state.version,
  };
  return { status: 200, body, headers: { etag: etagOf(state) } };
}

/**
 * The refusal of a refund that was meant for another state: by `If-Match`, by `X-Version`, or by `version` in the body.
 * Null where it names none, or the current one.
 */
export function staleAnswer(
  state: RefundState,
  headers: Readonly<Record<string, unknown>>,
  body: JsonObject,
): Answer | null {
  const versions = [headers['x-version'], body['version']].filter((each) => each !== undefined);
  const wanted = [headers['if-match'] ?? etagOf(state), ...versions.map((version) => `"${version}"`)];
  return wanted.every((etag) => etag === etagOf(state))
    ? null
    : problem(412, 'state_changed', `the order is at ${etagOf(state)} now`);
}
