/**
 * One event of an intent as `GET /v1/intents/{id}/events` tells it. Which of the optional fields are there depends on
 * the type; a reader has to expect types it does not know.
 */
export interface TimelineEvent {
  readonly version: number;
  /** ISO 8601, on the clock of the event log. */
  readonly at: string;
  readonly type: string;
  readonly proposal?: RecordedProposal;
  readonly attempt?: number | null;
  readonly attemptId?: string;
  readonly basis?: string;
  readonly cause?: string;
  readonly detail?: string;
  readonly absences?: number;
  readonly proof?: string;
  readonly data?: unknown;
  readonly failure?: { readonly code: string; readonly message: string };
  readonly reason?: string;
  readonly by?: string;
  readonly request?: { readonly view: string; readonly preview: { readonly kind: string } | null };
  readonly outcome?: string;
  readonly externalId?: string | null;
  readonly evidence?: string;
  readonly finding?: string;
}

/** The part of a recorded proposal that the story looks at. */
export interface RecordedProposal {
  readonly intentId: string;
  readonly stepId: string | null;
  readonly tool: string;
  readonly user: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Filled in from the run's session. */
  readonly injected: Readonly<Record<string, unknown>>;
  readonly dropped: readonly { readonly pointer: string; readonly type: string }[];
  /** The key the upstream sees. */
  readonly key: string;
  readonly terms: { readonly effect: 'read' | 'write' | 'destructive' };
}
