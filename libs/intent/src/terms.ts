/** What a tool does to the world. Reads may be repeated freely; the other two may not. */
export type Effect = 'read' | 'write' | 'destructive';

/** What the upstream promises about a repeated request; decides what may follow an unknown outcome. */
export type Guarantee = 'idempotency_key' | 'conditional_create' | 'lookup' | 'none';

/** What an empty answer of the tool's lookup is worth: proof of absence, nothing, or there is no lookup at all. */
export type LookupAuthority = 'authoritative' | 'presence_only' | 'none';

/**
 * The tool's declared limits and guarantee, frozen into the intent when it is recorded, so that an intent is judged
 * by the terms it was admitted under even if the tool file changes later. All durations are milliseconds.
 */
export interface Terms {
  readonly effect: Effect;
  readonly guarantee: Guarantee;
  readonly lookup: LookupAuthority;
  /** Wire attempts allowed over the whole life of the intent; an operator's replay allows one more when they are used up. */
  readonly maxAttempts: number;
  /** How long an attempt may stay open; longer than connect and call limit together. */
  readonly leaseMs: number;
  /** Maximum processing time of the upstream + lookup lag + margin: before it, an absence means nothing. */
  readonly settleMs: number;
  /** Least distance between the two absences that permit a resend. */
  readonly spacingMs: number;
  /** How long the upstream remembers our key, counted from the first attempt; 0 when it remembers none. */
  readonly retentionMs: number;
  /** How long reconciliation goes on without an answer before a person is asked. */
  readonly deadlineMs: number;
  /** First delay of the exponential backoff between attempts or inconclusive lookups. */
  readonly backoffMs: number;
  /** The lookup counts effects, so that one too many can be found. Left out in older intents: it does not. */
  readonly counts?: boolean;
  /** How an accepted request is followed to its end; null, or left out in older intents: by the lookup alone. */
  readonly poll?: {
    readonly everyMs: number;
    /** How long it is followed before a person is asked. */
    readonly deadlineMs: number;
  } | null;
  /** What it answers is text from outside: whoever reads it may have been told what to do. Left out: it is not. */
  readonly untrusted?: boolean;
  /** JSON Pointers into its data whose values other tools take as identifiers; `*` for each item. Left out: none. */
  readonly yields?: readonly string[];
  /** After so long whoever waits for it is told that it is still being worked on. Left out: when that is usual. */
  readonly noticeMs?: number;
  /** How its data is shown. Left out: as it is, up to the general size. */
  readonly shows?: Showing;
}

export interface Showing {
  /** Most bytes of JSON that are shown at once; left out: the general size. */
  readonly maxBytes?: number;
  /** A list in the data of which only the first items are shown; left out: none. */
  readonly list?: ShownList;
}

export interface ShownList {
  /** JSON Pointer to it; empty where the data is the list. */
  readonly at: string;
  /** Items that are shown, and most that a call or a page may ask for. */
  readonly limit: number;
  readonly max: number;
  /** JSON Pointer to how many there are in all. Left out: as many as the list has. */
  readonly total?: string;
  /** Name of the argument by which a call asks for more or fewer. Left out: no call can. */
  readonly argument?: string;
  /** In what order they are, in words. */
  readonly order?: string;
  /** Names of arguments that narrow the list down. */
  readonly narrow?: readonly string[];
}

/** True when a resend under the same key cannot double the effect while the key is remembered. */
export function keepsKey(terms: Terms): boolean {
  return terms.guarantee === 'idempotency_key' || terms.guarantee === 'conditional_create';
}
