/** What goes over HTTP, as the API document (`/openapi.json`) describes it. */

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };
export type JsonObject = { readonly [name: string]: Json };

export type ErrorCategory = 'validation' | 'policy' | 'conflict' | 'dependency' | 'internal';
export type NextAction = 'fix_arguments' | 'wait' | 'check_outcome' | 'ask_human' | 'choose_other_tool' | 'stop';

/** What went wrong, and what to do about it; `message` is written for the model. */
export interface ErrorObject {
  readonly code: string;
  readonly category: ErrorCategory;
  readonly message: string;
  /** The same call may succeed later, and making it again cannot double an effect. */
  readonly retryable: boolean;
  readonly nextAction: NextAction;
  readonly details: JsonObject;
}

export type Status =
  | 'pending'
  | 'awaiting_approval'
  | 'authorized'
  | 'dispatching'
  | 'accepted'
  | 'unknown'
  | 'committed'
  | 'failed'
  | 'denied'
  | 'cancelled'
  | 'expired'
  | 'dead_lettered';

/** How an intent stands. */
export interface IntentResult<Data = unknown> {
  readonly intentId: string;
  readonly runId: string;
  readonly stepId: string | null;
  readonly tool: string;
  readonly status: Status;
  /** What is known about the effect. */
  readonly outcome: 'executed' | 'not_executed' | 'unknown' | 'undecided';
  /** Answered from an earlier submit of the same step. */
  readonly replayed: boolean;
  /** Nothing real happened, whatever `outcome` says. */
  readonly sandbox?: true;
  /** Null unless it is committed, or where it is too large: then `summary` says so. */
  readonly data: Data | null;
  readonly summary: string | null;
  readonly handle: string | null;
  readonly error: ErrorObject | null;
  /** How many a shortened list has in all. */
  readonly total?: number;
  /** There where data or error may hold text from outside; `warning` tells a reader what that means. */
  readonly untrusted?: true;
  readonly warning?: string;
  /** Id of the intent by which the run had read text from outside before. */
  readonly taintedBy?: string;
  /** There while it waits for people. */
  readonly approval?: {
    readonly view: string;
    readonly why: readonly string[];
    readonly requester: string;
    /** ISO 8601. */
    readonly expiresAt: string;
    readonly quorum: number;
    readonly given: number;
  };
  /** Evidence that came too late to change the status silently. */
  readonly corrections?: readonly {
    readonly finding: 'executed' | 'partial_effect' | 'second_effect';
    /** The declaration that the upstream broke. */
    readonly breach: 'max_processing' | null;
  }[];
}

/** A part of what a tool answered. */
export interface ResultPage<Data = unknown> {
  readonly handle: string;
  readonly intentId: string;
  readonly tool: string;
  /** Where in the data this stands. */
  readonly pointer: string;
  /** What stands there: a list and an object come by items and members, a text by characters, others whole. */
  readonly kind: 'list' | 'object' | 'text' | 'value';
  readonly data: Data;
  /** Items, members or characters that stand there in all; null of a value. */
  readonly total: number | null;
  /** What is too large for any page: null stands for an item, a member is left out. */
  readonly omitted: readonly { readonly pointer: string; readonly what: string }[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
  /** There where the data may hold text from outside; `warning` tells a reader what that means. */
  readonly untrusted?: true;
  readonly warning?: string;
}

/** A tool as the model may see it. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly version: number;
  readonly effect: 'read' | 'write' | 'destructive';
  readonly reversible: boolean | null;
  readonly inputSchema: JsonObject;
  readonly outputSchema: JsonObject | null;
}

/** What a run is opened with: who acts, and what is permitted. */
export interface NewRun {
  readonly user: string;
  readonly permissions: readonly string[];
  readonly profile: 'interactive' | 'batch';
  readonly phase?: string;
  /** Such as `30m`. */
  readonly ttl?: string;
  readonly sandbox?: boolean;
  readonly budgets?: {
    readonly calls?: number;
    readonly mutating?: number;
    readonly destructive?: number;
    readonly cost?: number;
    readonly wallClock?: string;
  };
  /** Bounds of the arguments of some tools; `allow` is CEL. */
  readonly restrict?: readonly {
    readonly tools: readonly string[];
    readonly allow: string;
    readonly message: string;
  }[];
}

export interface OpenedRun {
  readonly runId: string;
  /** Credential of the agent. */
  readonly token: string;
  /** ISO 8601. */
  readonly expiresAt: string;
  readonly budgets: {
    readonly calls: number | null;
    readonly mutating: number | null;
    readonly destructive: number | null;
    readonly cost: number | null;
    readonly wallClockSeconds: number | null;
  };
}

/** Something that happened in a run. Beside these members are those of its type. */
export interface RunEvent {
  /** Where to go on after it. */
  readonly id: string;
  readonly intentId: string;
  readonly version: number;
  /** ISO 8601. */
  readonly at: string;
  readonly type: string;
  readonly [member: string]: unknown;
}
