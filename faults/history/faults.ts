/** Something was broken, or mended. */
export interface FaultEntry {
  readonly at: number;
  /** Such as `kill`, `pause`, `block`, `cut`, `postgres.crash`, `nats.wipe`; a mended one has the same kind. */
  readonly kind: string;
  readonly phase: 'begin' | 'end';
  /** `dispatcher/2`, `nats/0`, `postgres`, a leg such as `dispatcher/2>nats`. */
  readonly target: string;
  readonly detail?: Readonly<Record<string, string | number | boolean | null>>;
  /** False: it was ordered and did not happen (the cut never met its bytes, the process was dead already). */
  readonly happened?: boolean;
}
