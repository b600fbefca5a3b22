/** How the answer to a request goes wrong, whether or not the request took effect. */
export type Then =
  /** The regular answer. */
  | 'ok'
  /** That status with an error body. */
  | `status:${number}`
  /** Nothing, until the other side gives up. */
  | 'hang'
  /** The connection ends in order, without an answer. */
  | 'close'
  /** RST instead of an answer. */
  | 'reset'
  /** Status line, headers and the first bytes of the body, then RST. */
  | 'reset_after_status'
  /** `Content-Length` promises more than comes before the connection ends. */
  | 'truncated'
  /** A body that ends with the connection, in the middle of its JSON: nothing on the wire says that it is cut. */
  | 'cut'
  /** The regular answer, whole, with the end of the connection as its only end. */
  | 'close_delimited'
  /** Bytes that are not HTTP. */
  | 'garbage'
  /** 302 to a page whose GET answers 200 with HTML. */
  | 'redirect'
  /** 307 to the same path: whoever follows it sends the same request again, which is answered as if it were the first. */
  | 'redirect_same'
  /** 200 without a body. */
  | 'empty200'
  /** 202 with an operation that can be asked for at `/operations/{id}`. */
  | 'accepted';

/** What becomes of a request that was accepted (202): after that long it is done, or given up without an effect. */
export interface OperationPlan {
  readonly afterMs: number;
  readonly end: 'done' | 'failed';
}

/**
 * How a lookup goes wrong; `lag:<ms>`: an effect is visible only that long after it came into being; `anything`:
 * whatever is asked for is there; with a number, such as `error:2`, only the first that many lookups of a key do, where
 * the fault came with a request.
 */
export type LookupFault = 'error' | 'hang' | 'anything' | `${'error' | 'hang'}:${number}` | `lag:${number}`;

/**
 * What the upstream does with a request. A behaviour that has `lookup` only is about lookups; every other is about
 * requests, and its `lookup` then holds for all later lookups of the key it was applied to.
 */
export interface Behaviour {
  /** Whether the request takes effect; default true. Together with `then: 'ok'`, false is an upstream that lies. */
  readonly commit?: boolean;
  /** Default: the regular answer. */
  readonly then?: Then;
  /** Time before the answer (not before the effect). */
  readonly delayMs?: number;
  /** Time before the effect; it comes whatever the other side does meanwhile. */
  readonly commitAfterMs?: number;
  /** Headers to add to the answer, such as `Retry-After`; kinds of `then` below HTTP have none. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly lookup?: LookupFault;
  /** False: the key is not looked at, so that a repeat is a second effect. */
  readonly honourKey?: boolean;
  /** The next that many repeats of this key are answered 409, whatever became of the request. */
  readonly inProgress?: number;
  /** True: the answer is kept for the key, an error too, and every repeat gets it and has no effect. */
  readonly keepAnswer?: boolean;
  /** A repeat that comes so long after the effect is a request of its own: the key was forgotten. */
  readonly forgetKeyAfterMs?: number;
  /** True: the answer, and what a lookup shows, names the same thing for every effect. */
  readonly constantReceipt?: boolean;
  /** The effect has `of` parts, of which `done` come into being, a ledger line each. */
  readonly parts?: { readonly done: number; readonly of: number };
  /** With `then: 'accepted'`: how it ends, and when the effect comes. Left out: done when the effect is there. */
  readonly operation?: OperationPlan;
}

/** Which requests: all given fields must agree. */
export interface RuleMatch {
  /** Path without query, exact. */
  readonly path?: string;
  readonly key?: string;
  /** Text that occurs in the body, or in the query of a read; a lookup has none. */
  readonly bodyContains?: string;
}

/** Rules apply in the order they were given; each is used up after `times` (default 1). */
export interface Rule {
  readonly match: RuleMatch;
  readonly times?: number | 'always';
  readonly behaviour: Behaviour;
}
