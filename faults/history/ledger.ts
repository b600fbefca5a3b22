interface Stamp {
  /** 1, 2, 3 … over all kinds. */
  readonly seq: number;
  readonly at: number;
}

/** Lines of the upstream's ledger; `key` and `attemptId` are those of the request that caused it. */
export type LedgerEntry = Stamp &
  (
    | {
        /** One request came off the wire, whole; written before anything is done about it. */
        readonly kind: 'request';
        readonly path: string;
        readonly method: string;
        readonly key: string | null;
        readonly attemptId: string | null;
        readonly argsHash: string;
      }
    | {
        /** Something happened in the world: no line, no effect. */
        readonly kind: 'effect';
        readonly path: string;
        readonly key: string | null;
        readonly attemptId: string | null;
        readonly argsHash: string;
        readonly externalId: string;
        /** What it answers and shows; `part` of `parts` where the effect comes in parts, which are one effect together. */
        readonly answer?: Readonly<Record<string, unknown>>;
      }
    | {
        readonly kind: 'lookup' | 'poll';
        readonly path: string;
        readonly key: string | null;
        /** What whoever asked was told: `present`, `absent`, `error`, `hang`, or the state of an operation. */
        readonly answer: string;
      }
  );
