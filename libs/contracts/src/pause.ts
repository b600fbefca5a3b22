/** What a pause is about. Every part that is not null has to fit; with none given it is about everything. */
export interface PauseScope {
  readonly tenant: string | null;
  readonly tool: string | null;
  /** `payments`: every tool whose name begins with `payments.`. */
  readonly namespace: string | null;
  /** Name of the upstream, as tool files give it. */
  readonly upstream: string | null;
}

/** Somebody's word that nothing of that scope is to begin for now. */
export interface Pause extends PauseScope {
  readonly id: string;
  readonly reason: string;
  /** Name of the operator. */
  readonly author: string;
  /** ISO 8601. */
  readonly since: string;
  /** When it ends by itself, ISO 8601; null: when somebody ends it. */
  readonly until: string | null;
}

/** For how long a process goes by the pauses it has read last, in ms. */
export const pausesKnownMs = 1_000;
