import type { Effect, EventType, JsonObject } from '@intendant/intent';
import type { Restriction } from './restriction.js';
import type { Session } from './session.js';

/** What a call was denied for want of, where a rule asked for a person and nobody could be asked yet: in older records. */
export const approvalOfAPerson = 'the approval of a person';

/** One thing that happened to an intent, with as much of it as says what the intent takes of its run. */
export interface Change {
  /** RFC 3339 in UTC with microseconds, so that times sort as texts. */
  readonly at: string;
  readonly type: EventType;
  readonly basis?: string;
  readonly attempt?: number;
  readonly sent?: false;
  readonly absences?: number;
  /** Of a dead letter. */
  readonly reason?: string;
  readonly finding?: string;
}

/** A decision of admission as it was recorded, with everything that a written rule looks at. */
export interface RecordedDecision {
  readonly intentId: string;
  /** As in a change. */
  readonly at: string;
  readonly tenant: string;
  readonly runId: string;
  readonly user: string;
  readonly phase: string | null;
  readonly sandbox: boolean;
  readonly tool: string;
  readonly toolVersion: number;
  readonly effect: Effect;
  /** After trusted fields were dropped; null where they take more than 16 KiB of JSON. */
  readonly args: JsonObject | null;
  /** Millionths of a unit. */
  readonly costMicros: number;
  /** Id of the intent by which the run had read text from outside; null: it had not. */
  readonly taintedBy: string | null;
  readonly decision: 'allow' | 'deny' | 'require_approval';
  /** Rules that demanded the approval of a person; empty: none did. */
  readonly demandedBy: readonly string[];
  /** Of the denial, as the agent was told; null where it was not denied. */
  readonly code: string | null;
  /** What would have allowed it; null: nothing, or it was not denied. */
  readonly wouldAllow: string | null;
  /** What it went by; null where it was decided before there were policy files. */
  readonly reasons: {
    /** Version of the policy files. */
    readonly policy: string;
    /** The rule that decided; null: none objected. */
    readonly rule: string | null;
    readonly inputs: JsonObject;
  } | null;
  /** Null where nothing is known of it. */
  readonly run: {
    readonly profile: Session['profile'];
    readonly permissions: readonly string[];
    /** Name of the service key that opened it. */
    readonly openedBy: string;
    /** As in a change. */
    readonly openedAt: string;
    readonly restrictions: readonly Restriction[];
  } | null;
  /** Everything that has happened to the intent, the recording and the decision included, in order. */
  readonly changes: readonly Change[];
}

/** A page of them, the oldest first. */
export interface DecisionPage {
  /** From when on they are, by the clock of the database. */
  readonly since: string;
  readonly items: readonly RecordedDecision[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}
