import type { Phase } from './open-loop.js';

/** Where the load goes, and with which credentials. */
export type Target =
  | { readonly protocol: 'nats'; readonly url: string; readonly subject: string; readonly tokens: readonly string[] }
  | { readonly protocol: 'http'; readonly port: number; readonly path: string };

/**
 * What is submitted.
 * `plain`: every request is a new intent of the one tool of the benchmark.
 * `mixed`: of twenty requests two have an unknown outcome, one is denied and four repeat an earlier one.
 * `spread`: every request is a new intent, of each of a thousand tools in turn.
 * `unheard`: as `plain`, but nobody waits for the outcome.
 * `hanging`: as `unheard`, of a tool whose upstream can be told to hang.
 */
export type Blend = 'plain' | 'mixed' | 'spread' | 'unheard' | 'hanging';

/** Closed loop: `concurrency` requests are in flight until `count` are answered. */
export interface LoadJob {
  readonly target: Target;
  /** Number of the first request; requests with different numbers are different intents. */
  readonly first: number;
  readonly count: number;
  readonly concurrency: number;
  /** What is sent over NATS; plain when left out. */
  readonly blend?: Blend;
}

/** Open loop over NATS: requests arrive on a schedule, however many are still unanswered. */
export interface OpenJob {
  readonly target: Extract<Target, { protocol: 'nats' }>;
  readonly first: number;
  /** One right after the other. */
  readonly phases: readonly Phase[];
  /** `request` waits for the outcome; `publish` leaves the submit in JetStream and waits for that only. */
  readonly as: 'request' | 'publish';
  readonly blend: Extract<Blend, 'plain' | 'hanging'>;
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
