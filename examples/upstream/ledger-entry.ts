import type { JsonObject } from './json.js';

/** `at`: ms since the epoch with a fraction, read from a clock that never steps back while the process lives. */
export interface Stamp {
  /** 1, 2, 3 … over all kinds, without gap. */
  readonly seq: number;
  readonly at: number;
}

/** One request came off the wire, whole. Written before anything is done about it. */
export interface RequestLine {
  readonly kind: 'request';
  readonly path: string;
  readonly method: string;
  /** Header `Idempotency-Key`. */
  readonly key: string | null;
  /** Header `X-Attempt-Id`. */
  readonly attemptId: string | null;
  /** sha256 (hex) of the body, JSON keys sorted. */
  readonly argsHash: string;
  /** Bytes. */
  readonly bodySize: number;
}

/** Something happened in the world. This line is the effect: no line, no effect. */
export interface EffectLine {
  readonly kind: 'effect';
  /** Path of the request that caused it. */
  readonly path: string;
  readonly key: string | null;
  readonly attemptId: string | null;
  readonly argsHash: string;
  /** What came into being: `refund`, `mail`, `ticket`, or the name of a generic effect. */
  readonly resource: string;
  readonly externalId: string;
  /** Body of the answer 201; also what a lookup shows. */
  readonly answer: JsonObject;
}

/** Somebody asked whether a key took effect, and what they were told. */
export interface LookupLine {
  readonly kind: 'lookup';
  readonly path: string;
  readonly key: string;
  readonly answer: 'present' | 'absent' | 'error' | 'hang';
}

/** Somebody asked what became of an accepted request, and what they were told. */
export interface PollLine {
  readonly kind: 'poll';
  readonly path: string;
  /** Of the request that was accepted. */
  readonly key: string | null;
  readonly answer: OperationState;
}

export type OperationState = 'queued' | 'done' | 'failed';

export type LedgerLine = RequestLine | EffectLine | LookupLine | PollLine;
export type LedgerKind = LedgerLine['kind'];
export type LedgerEntry = LedgerLine & Stamp;
export type EntryOf<K extends LedgerKind> = Extract<LedgerEntry, { kind: K }>;

/** What to wait for; all given fields must agree. */
export interface LedgerMatch {
  readonly path?: string;
  readonly key?: string;
  readonly attemptId?: string;
  /** How many such lines, counted from the beginning of the ledger; default 1. */
  readonly count?: number;
}

/** The lines of one kind that match, oldest first. */
export function select<K extends LedgerKind>(
  entries: readonly LedgerEntry[],
  kind: K,
  match: LedgerMatch,
): EntryOf<K>[] {
  return entries.filter(
    (entry): entry is EntryOf<K> =>
      entry.kind === kind &&
      (match.path === undefined || entry.path === match.path) &&
      (match.key === undefined || entry.key === match.key) &&
      (match.attemptId === undefined || ('attemptId' in entry && entry.attemptId === match.attemptId)),
  );
}
