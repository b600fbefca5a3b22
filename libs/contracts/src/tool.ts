import type { Effect, JsonObject, Terms } from '@intendant/intent';

/** A value of the run's session that the runtime fills in where the tool file says `inject`. */
export type SessionField = 'tenant' | 'user' | 'run';

/** What an HTTP status of this upstream means, where it differs from the general table (docs/outcomes.md). */
export type StatusMeaning = 'executed' | 'not_executed' | 'accepted' | 'unknown' | 'in_progress';

/** The tool's `exists()`: how to ask the upstream whether a request took effect. */
export interface LookupDefinition {
  readonly method: 'GET' | 'POST';
  /** Path with `{{key}}`, `{{intentId}}` or `{{args.field}}`, percent-encoded when filled in. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSONata over `{ status, data }` of the answer with `data` also at the root: true when the effect is there. */
  readonly present: string;
  /** JSONata that extracts the receipt; it must satisfy the output schema. Null: the whole answer. */
  readonly receipt: string | null;
  /** HTTP statuses (400 to 499) by which the upstream says that nothing is there; every other but 200 says nothing. */
  readonly absentStatuses: readonly number[];
}

export interface HttpUpstream {
  readonly kind: 'http';
  readonly baseUrl: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path with `{{args.field}}`, `{{key}}`; percent-encoded when filled in. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSONata over `{ args, key, intentId, attemptId }`, `$args` bound to the arguments with injected fields. Null: no body. */
  readonly body: string | null;
  readonly statuses: Readonly<Record<number, StatusMeaning>>;
  readonly lookup: LookupDefinition | null;
}

/** A tool as loaded and checked from its file. The model sees name, description, schemas and effect; nothing else. */
export interface ToolDefinition {
  readonly name: string;
  readonly version: number;
  readonly description: string;
  readonly effect: Effect;
  readonly reversible: boolean | null;
  readonly permission: string;
  /** Phases of a run in which it may be called; null: in all. */
  readonly phases: readonly string[] | null;
  /** JSON Schema 2020-12. */
  readonly input: JsonObject;
  readonly output: JsonObject | null;
  readonly inject: Readonly<Record<string, SessionField>>;
  readonly limits: {
    readonly connectMs: number;
    /** From the first byte of the request to the last of the answer. */
    readonly callMs: number;
    /** Attempts of this tool open at once in one dispatcher. */
    readonly concurrency: number;
  };
  readonly terms: Terms;
  readonly upstream: HttpUpstream;
  /** The part whose meaning callers rely on; a change needs a new version. */
  readonly contract: JsonObject;
  /** sha256 of the canonical contract, hex. */
  readonly contractDigest: string;
  /** File it came from, as given on the command line or found in the tools directory. */
  readonly file: string;
}
