/** Rows as PostgreSQL holds them at the end of a round; JSON columns parsed. */
export interface DatabaseDump {
  readonly events: readonly EventRow[];
  readonly intents: readonly IntentRow[];
  readonly outbox: readonly { readonly msgId: string; readonly subject: string; readonly payload: string }[];
  readonly deadMessages: readonly DeadMessage[];
  /** Connections of the services at rest, by application name, and how many of them have been in a transaction for long. */
  readonly sessions: readonly {
    readonly application: string;
    readonly total: number;
    readonly inTransaction: number;
  }[];
}

/** A message that was refused and is kept for an operator. */
export interface DeadMessage {
  readonly id: string;
  readonly subject: string;
  readonly error: unknown;
  /** As text, with whatever is not ASCII escaped. */
  readonly payload: string;
}

export interface EventRow {
  readonly intentId: string;
  readonly version: number;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly commandId: string;
  readonly recordedAt: number;
  /** When its transaction committed, from `track_commit_timestamp`. */
  readonly committedAt: number;
}

export interface IntentRow {
  readonly id: string;
  readonly tenant: string;
  readonly runId: string;
  readonly stepId: string | null;
  readonly tool: string;
  readonly effect: string;
  readonly key: string;
  readonly fingerprint: string;
  readonly state: string;
  readonly version: number;
  readonly attempts: number;
  readonly reason: string | null;
  readonly leaseUntil: number | null;
  readonly wakeAt: number | null;
}
