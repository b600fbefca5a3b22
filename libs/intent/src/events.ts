import type { ApprovalRequest } from './approval.js';
import type { Json, JsonObject } from './json.js';
import type { Terms } from './terms.js';

/** A trusted field that the caller tried to set; its value is never kept, only what kind of value it was. */
export interface DroppedField {
  /** JSON Pointer into the submitted arguments (RFC 6901). */
  readonly pointer: string;
  readonly type: string;
}

/** Everything that is fixed about an intent when it is recorded. */
export interface Proposal {
  readonly intentId: string;
  readonly tenant: string;
  readonly runId: string;
  readonly user: string;
  readonly stepId: string | null;
  readonly tool: string;
  readonly toolVersion: number;
  /** Digest of the tool's contract at admission. */
  readonly contractDigest: string;
  /** The model's arguments after trusted fields were dropped. */
  readonly args: JsonObject;
  /** Trusted fields filled in from the session; sent to the upstream beside `args`, never shown to the model. */
  readonly injected: JsonObject;
  readonly dropped: readonly DroppedField[];
  /** Identity of the request: same key, same intent. It is also the key the upstream sees. */
  readonly key: string;
  /** Digest of the canonical arguments: same key with another fingerprint is a conflict. */
  readonly fingerprint: string;
  readonly sandbox: boolean;
  readonly terms: Terms;
  /** End of the authority to dispatch, in ms since the epoch on the database clock. */
  readonly expiresAt: number;
  /** W3C trace context of the submit. */
  readonly traceparent: string | null;
  /** What the call costs by its tool's reckoning, in millionths of a unit. Left out: nothing. */
  readonly cost?: number;
  /** The business operation that it is: no other intent may be it for a while. Left out: the tool names none. */
  readonly operation?: Operation;
  /** What it looks like, for whoever asks whether something like it was done before. Left out: nobody does. */
  readonly likeness?: string;
  /** Phase of the run when it was decided. Left out: it was in none. */
  readonly phase?: string;
  /** Id of the intent by which the run had read text from outside. Left out: it had not. */
  readonly taintedBy?: string;
  /** What a refusal of it is remembered by, however it is worded. Left out: it cannot be refused. */
  readonly gist?: string;
  /** Id of the grant that stands in for an approval. Left out: none does. */
  readonly grant?: string;
}

/** Digest of tenant, tool and the fields that make a call the operation it is, and for how long it stays taken. */
export interface Operation {
  readonly digest: string;
  /** From when the intent is recorded, in ms. */
  readonly windowMs: number;
}

/** What a decision of admission went by. */
export interface Reasons {
  /** Version of the policy files. */
  readonly policy: string;
  /** The rule that decided; null: none objected. */
  readonly rule: string | null;
  /** What that rule looked at. */
  readonly inputs: JsonObject;
}

/** What the agent is told when nothing happened or may happen any more; codes are those of the public contract. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly details: JsonObject;
}

/** Why a further or first attempt may be sent. */
export type Basis =
  /** Admission allowed it; nothing was sent yet. */
  | 'admitted'
  /** People agreed to it. */
  | 'approved'
  /** Every earlier attempt provably did not run. */
  | 'not_executed'
  /** Two spaced, authoritative absences after the settle time. */
  | 'absent'
  /** The upstream still remembers our key, so the same request cannot take effect twice. */
  | 'same_key';

export type DeadLetterReason =
  /** The tool has no key and no lookup: nobody but a person can find out. */
  | 'no_way_to_tell'
  /** The lookup cannot prove absence and the key may not be used again. */
  | 'absence_not_provable'
  | 'lookup_deadline'
  | 'key_retention_passed'
  | 'attempts_exhausted'
  | 'authority_expired'
  /** After the settle time some parts of the effect are there and others are not. */
  | 'partial_effect'
  /** The upstream took it on and did not say in time what became of it. */
  | 'poll_deadline'
  /** Nothing was sent: what sends it (a program, a tool file) is not where the dispatchers are. */
  | 'adapter_missing';

/** How it became known that the effect is there. */
export type Proof = 'response' | 'lookup' | 'poll' | 'operator';

/** What late evidence shows: an effect that was not believed in, parts of one, or one too many. */
export type Finding = 'executed' | 'partial_effect' | 'second_effect';

/** `max_processing`: the effect came after the declared maximum processing time, when its absence had been proven. */
export type Breach = 'max_processing';

/**
 * Facts of one intent, in the past tense. Stored for ever: change by adding, upcast on read.
 * Times are ms since the epoch on the database clock.
 */
export type IntentEvent =
  | { readonly type: 'recorded'; readonly proposal: Proposal }
  | { readonly type: 'denied'; readonly failure: Failure; readonly reasons?: Reasons }
  | {
      readonly type: 'authorized';
      readonly basis: Basis;
      /** Not to be sent before this time (backoff, `Retry-After`). */
      readonly notBefore: number | null;
      /** Not to be sent after this time: the upstream will have forgotten the key. */
      readonly resendUntil: number | null;
      /** Where admission allowed it. */
      readonly reasons?: Reasons;
    }
  /** People are asked; after an earlier request, because of what `differs` from it or because its preview is there. */
  | {
      readonly type: 'approval_requested';
      readonly request: ApprovalRequest;
      readonly differs?: readonly string[];
      readonly reasons?: Reasons;
    }
  | { readonly type: 'approved'; readonly by: string; readonly digest: string }
  | { readonly type: 'approval_withdrawn'; readonly by: string }
  | { readonly type: 'refused'; readonly by: string; readonly reason: string }
  | {
      readonly type: 'attempt_started';
      readonly attempt: number;
      readonly attemptId: string;
      readonly leaseUntil: number;
      /** Digest of the request that people have agreed to, and by which it goes. Left out: nobody was asked. */
      readonly approval?: string;
    }
  | {
      readonly type: 'attempt_not_executed';
      readonly attempt: number;
      readonly cause: string;
      readonly detail: string;
      /** False: no byte of it left. Left out where one did, or in older events. */
      readonly sent?: false;
    }
  | {
      readonly type: 'accepted';
      readonly attempt: number;
      readonly data: Json;
      readonly dueAt: number;
      readonly deadline: number;
    }
  | {
      readonly type: 'outcome_unknown';
      readonly cause: string;
      readonly detail: string;
      readonly settleAt: number;
      readonly dueAt: number;
      readonly deadline: number;
    }
  | { readonly type: 'lookup_absent'; readonly absences: number; readonly dueAt: number }
  | { readonly type: 'lookup_inconclusive'; readonly detail: string; readonly dueAt: number }
  | {
      readonly type: 'committed';
      readonly proof: Proof;
      readonly attempt: number | null;
      readonly data: Json;
    }
  | { readonly type: 'failed'; readonly failure: Failure }
  | { readonly type: 'dead_lettered'; readonly reason: DeadLetterReason; readonly detail: string }
  | {
      readonly type: 'replay_requested';
      readonly by: string;
      readonly reason: string;
      readonly settleAt: number;
      readonly dueAt: number;
      readonly deadline: number;
      readonly expiresAt: number;
    }
  | {
      readonly type: 'resolved';
      readonly by: string;
      readonly outcome: 'executed' | 'not_executed';
      readonly externalId: string | null;
      readonly evidence: string;
    }
  | { readonly type: 'cancelled'; readonly by: string }
  /** It may have been sent already: it is aborted where it runs, not sent again, and ends in what really happened. */
  | { readonly type: 'cancel_requested'; readonly by: string }
  | { readonly type: 'expired' }
  /** Evidence that came too late to change anything silently: an effect we had not counted, or a second one. */
  | {
      readonly type: 'corrected';
      readonly attempt: number | null;
      readonly finding: Finding;
      readonly data: Json;
      /** The declaration that the upstream broke, where the evidence shows one. */
      readonly breach?: Breach;
    }
  /** Looked at once more after the commit, since an earlier attempt had been ruled out by absences only. */
  | { readonly type: 'reviewed'; readonly detail: string };

export type EventType = IntentEvent['type'];
