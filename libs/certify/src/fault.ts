/** What happens to one request on its way to the upstream, or to its answer on the way back. */
export type Fault =
  /** The head passes, the body does not, for as long as the client is there. */
  | { readonly kind: 'hold_body' }
  /** The request passes, its answer does not, for as long as the client is there. */
  | { readonly kind: 'hold_answer' }
  /** The request passes whole; then both sides are reset, before there can be an answer. */
  | { readonly kind: 'cut_before_answer' }
  /** The request passes; its answer does not, and when it is there both sides are reset. */
  | { readonly kind: 'cut_answer' }
  /** The request passes; the client is told this status instead of the answer. */
  | { readonly kind: 'replace_answer'; readonly status: number };

/** The moment at which a fault struck. */
export interface Struck {
  /** On the clock of `performance.now()`, in ms. */
  readonly at: number;
  /** Status of the upstream's answer, where there was one by then. */
  readonly status: number | null;
  /** Body of the answer that was lost; null where it was not read. */
  readonly body: string | null;
}

/** One request as it was seen on the wire. Times are those of `performance.now()`, in ms. */
export interface SeenRequest {
  readonly attemptId: string;
  readonly startedAt: number;
  /** When its last byte was handed on; null when that never happened. */
  passedAt: number | null;
  /** When its answer began. */
  answeredAt: number | null;
  status: number | null;
}
