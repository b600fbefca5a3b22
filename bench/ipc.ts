import type { LoadResult } from './load-job.js';
import type { OpenResult } from './open-loop.js';

/** What a server child says once it can be used. */
export interface FromServer {
  readonly kind: 'ready';
  readonly port: number;
}

/** `writes` counts requests, `effects` counts keys: they differ when something was sent twice. */
export type FromUpstream = FromServer | { readonly kind: 'counts'; readonly writes: number; readonly effects: number };

/** Asks for the counts, and may say whether what goes to `/hanging` hangs from now on; at first it does not. */
export interface ToUpstream {
  readonly hangs?: boolean;
}

export type FromLoad =
  | { readonly kind: 'result'; readonly result: LoadResult }
  | { readonly kind: 'open'; readonly result: OpenResult }
  | { readonly kind: 'ready' };

/** Sends a message to the benchmark that forked this process. */
export function report<T>(message: T): void {
  process.send?.(message);
}
