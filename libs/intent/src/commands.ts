import type { ApprovalRequest, Approver, Verification } from './approval.js';
import type { Failure, IntentEvent, Proposal, Reasons } from './events.js';
import type { LookupAnswer, PollAnswer, Verdict } from './verdict.js';

/** What admission decided. */
export type Ruling = (
  | { readonly allow: true }
  /** Once people have agreed. */
  | { readonly allow: 'approved'; readonly request: ApprovalRequest }
  | { readonly allow: false; readonly failure: Failure }
) & { readonly reasons?: Reasons };

/** What is decided about a call once people were asked: it is not allowed any more, or they are asked as the rules are now. */
export type Rejudgement = Exclude<Ruling, { readonly allow: true }>;

/**
 * What somebody wants to happen to one intent. `decide` turns it into events or says why not.
 * Commands carry everything from outside the domain: ids, random numbers and, as an argument of `decide`, the time.
 */
export type Command =
  | {
      readonly type: 'record';
      readonly proposal: Proposal;
      readonly ruling: Ruling;
    }
  | {
      readonly type: 'start_attempt';
      readonly attemptId: string;
      /** Phases of a run in which the tool may be called; null or left out: in all. */
      readonly phases?: readonly string[] | null;
      /** The run is in none of them any more. */
      readonly outOfPhase?: boolean;
      /** How its approvals stand up to what would be sent. Left out: nobody has looked; enough where nobody was asked. */
      readonly verified?: Verification;
      /** The grant that stood in for an approval is over. */
      readonly grantOver?: boolean;
    }
  | {
      readonly type: 'record_verdict';
      readonly attemptId: string;
      readonly verdict: Verdict;
      /** Random number in [0, 1) for the jitter of a retry. */
      readonly jitter: number;
    }
  /** The lease of the open attempt ended without a verdict. */
  | { readonly type: 'expire_lease'; readonly jitter: number }
  /**
   * `askedAt`: when the lookup was sent, or earlier; `answeredAt`: when its answer was there, or later; left out, now.
   * Both on the database clock: an absence may be as old as the one, and what was found as young as the other.
   */
  | {
      readonly type: 'record_lookup';
      readonly answer: LookupAnswer;
      readonly askedAt: number;
      readonly answeredAt?: number;
    }
  /** What the upstream says about a request that it had accepted. */
  | { readonly type: 'record_poll'; readonly answer: PollAnswer; readonly askedAt: number }
  /** The answer of the one more look that `needsReview` asks for. */
  | { readonly type: 'record_review'; readonly answer: LookupAnswer }
  /** `digest`: of the request that was seen. */
  | { readonly type: 'approve'; readonly approver: Approver; readonly digest: string }
  /** `digest` null: whatever is asked now. */
  | { readonly type: 'refuse'; readonly approver: Approver; readonly digest: string | null; readonly reason: string }
  | { readonly type: 'withdraw'; readonly by: string }
  /** The preview of the request with that digest is there: `request` has it. */
  | { readonly type: 'show_preview'; readonly of: string; readonly request: ApprovalRequest }
  /** What the present rules say of the request with that digest, which was asked by those of before. */
  | { readonly type: 'judge_again'; readonly of: string; readonly ruling: Rejudgement }
  | { readonly type: 'cancel'; readonly by: string }
  | { readonly type: 'expire' }
  | { readonly type: 'replay'; readonly by: string; readonly reason: string }
  | {
      readonly type: 'resolve';
      readonly by: string;
      readonly outcome: 'executed' | 'not_executed';
      readonly externalId: string | null;
      readonly evidence: string;
    };

export type Rejection =
  | 'no_such_intent'
  /** Same key, other arguments. */
  | 'idempotency_conflict'
  /** The intent is not (or no longer) waiting to be dispatched, or somebody else was faster. */
  | 'not_authorized'
  | 'not_due'
  /** It has approvals, or needs one, and nobody has looked whether they are about what would be sent. */
  | 'not_verified'
  /** Those who have agreed are too few, or agreed to something else. */
  | 'not_approved'
  /** Nobody is asked about it, or not any more. */
  | 'not_awaiting'
  /** What the person saw is not what is asked now. */
  | 'stale_digest'
  /** Nobody can agree before the preview is there. */
  | 'no_preview_yet'
  /** Nobody can agree before it is known what the changed policy files say of it. */
  | 'not_judged_yet'
  /** Whoever the run acts for may not agree to it. */
  | 'own_request'
  /** The person lacks a role or a group that the tool demands. */
  | 'not_entitled'
  /** There is no approval of that person to take back. */
  | 'nothing_given'
  | 'unknown_attempt'
  /** It was sent already; the honest answer is its outcome. */
  | 'in_flight'
  | 'not_dead_lettered'
  /** Nothing could find out whether it happened, so a replay could double it. */
  | 'not_replayable'
  | 'not_resolvable'
  /** "Not executed" cannot be known before the upstream's declared processing time is over. */
  | 'too_early';

/** `unchanged` is a normal answer: it is already so, or it no longer matters. Redelivery is normal. */
export type Decision =
  | { readonly kind: 'accepted'; readonly events: readonly [IntentEvent, ...IntentEvent[]] }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'rejected'; readonly reason: Rejection };
