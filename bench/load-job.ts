/** Where the load goes, and with which credentials. */
export type Target =
  | { readonly protocol: 'nats'; readonly url: string; readonly subject: string; readonly tokens: readonly string[] }
  | { readonly protocol: 'http'; readonly port: number };

/** Closed loop: `concurrency` requests are in flight until `count` are answered. */
export interface LoadJob {
  readonly target: Target;
  /** Number of the first request; requests with different numbers are different intents. */
  readonly first: number;
  readonly count: number;
  readonly concurrency: number;
}

/** Times in ms, except where the name says otherwise. */
export interface LoadResult {
  readonly seconds: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  /** Answers that were not a settled result, with one of them as an example. */
  readonly failures: number;
  readonly example: string | null;
  /** CPU seconds of the load generator itself. */
  readonly cpuSeconds: number;
}

/** The state every request has to reach to count. */
export const settledText = 'committed';
/** How an answer shows it. */
export const settledMark = Buffer.from(`"status":"${settledText}"`);

export const toolName = 'bench.write';
const padding = 'the customer returned the goods unopened; '.repeat(5);

/** Arguments of request `n`, about 300 bytes as JSON. */
export function argsOf(n: number): object {
  return { order_id: `ord_${n}`, amount_cents: 1_000 + n, currency: 'EUR', reason: padding };
}
