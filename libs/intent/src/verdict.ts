import type { Json } from './json.js';

/**
 * What is known about one wire attempt once its connection is done with (docs: outcomes).
 * `cause` is a short machine word such as `http_502`, `connect_refused`, `reset_after_send`, `call_timeout`.
 */
export type Verdict =
  /** Proof that it ran; `data` is the upstream's answer, mapped and checked by the output schema. */
  | { readonly kind: 'executed'; readonly data: Json }
  /** Proof that it did not run. `transient` says that the same request may succeed later. */
  | {
      readonly kind: 'not_executed';
      readonly cause: string;
      readonly transient: boolean;
      readonly retryAfterMs: number | null;
      readonly detail: string;
      /** False: no byte of it left, so it was no wire attempt and does not count as one. True when left out. */
      readonly sent?: boolean;
    }
  /** It will run, the upstream says (202); it must be asked for, never sent again. */
  | { readonly kind: 'accepted'; readonly data: Json }
  /** It may or may not have run. */
  | { readonly kind: 'unknown'; readonly cause: string; readonly detail: string };

/** Answer of the tool's lookup (the upstream's `exists()`). An error or a timeout is `cannot_tell`, never `absent`. */
export type LookupAnswer =
  /**
   * `excess`: effects beyond those that were asked for, as far as the tool's lookup can count them. `receipt`: digest of the
   * data before anything was taken out of it; left out where nothing was.
   */
  | { readonly kind: 'present'; readonly data: Json; readonly excess?: number; readonly receipt?: string }
  | { readonly kind: 'absent' }
  /** Some parts of the effect are there and others are not; `detail` says how many. */
  | { readonly kind: 'partial'; readonly data: Json; readonly detail: string }
  | { readonly kind: 'cannot_tell'; readonly detail: string };

/** What became of a request that the upstream had accepted. Errors and timeouts of the question are `pending`. */
export type PollAnswer =
  | { readonly kind: 'executed'; readonly data: Json }
  /** The upstream gave it up: nothing happened and nothing will. */
  | { readonly kind: 'failed'; readonly detail: string }
  | { readonly kind: 'pending'; readonly detail: string };
