import type { Approvals } from './approval.js';
import type { Basis, Breach, DeadLetterReason, Failure, Finding, Proof, Proposal } from './events.js';
import type { Json } from './json.js';

/** One request that may have gone out. `absent`: unknown at first, then conclusively not found. */
export interface Attempt {
  readonly number: number;
  readonly attemptId: string;
  readonly startedAt: number;
  readonly leaseUntil: number;
  readonly verdict: 'open' | 'executed' | 'not_executed' | 'accepted' | 'unknown' | 'absent';
  /** Short word of the verdict, for people. */
  readonly cause: string | null;
  /** False: provably no byte of it left, so it was no wire attempt. */
  readonly sent: boolean;
  /** Digest of the request that people have agreed to, and by which it goes; left out where nobody was asked. */
  readonly approval?: string;
  /** What the upstream answered when it accepted it; left out where it did not. */
  readonly accepted?: Json;
}

/** Evidence that arrived after the matter was closed. */
export interface Correction {
  readonly attempt: number | null;
  readonly finding: Finding;
  readonly data: Json;
  readonly breach: Breach | null;
}

/** True of every intent, whatever its state. */
export interface Core {
  readonly proposal: Proposal;
  /** Number of events so far; the next event is `version + 1`. */
  readonly version: number;
  readonly recordedAt: number;
  /** When the present state was entered. */
  readonly since: number;
  readonly attempts: readonly Attempt[];
  /** Wire attempts allowed: the tool's limit, raised by a replay where it leaves no further attempt. */
  readonly maxAttempts: number;
  readonly expiresAt: number;
  readonly corrections: readonly Correction[];
  /** Who asked for it not to happen when it may have been sent already; null: nobody. */
  readonly cancelledBy: string | null;
  /** What people were asked and have answered; null: nobody was asked. */
  readonly approvals: Approvals | null;
}

/** What a further or first attempt may go by, once it may start. */
export interface Clearance {
  readonly basis: Basis;
  readonly notBefore: number | null;
  readonly resendUntil: number | null;
}

export interface Reconciling {
  /** Before this time an absence means nothing. */
  readonly settleAt: number;
  /** When to ask next. */
  readonly dueAt: number;
  /** From then on a lookup that cannot tell leads to a person. */
  readonly deadline: number;
}

export type Intent = Core &
  (
    | { readonly state: 'pending' }
    | ({ readonly state: 'awaiting_approval'; readonly approvals: Approvals } & Clearance)
    | ({ readonly state: 'authorized' } & Clearance)
    | { readonly state: 'dispatching'; readonly attempt: Attempt }
    | {
        readonly state: 'accepted';
        readonly data: Json;
        readonly dueAt: number;
        readonly deadline: number;
        readonly asked: number;
      }
    | ({
        readonly state: 'unknown';
        readonly cause: string;
        readonly detail: string;
        /** Authoritative absences so far, and when the last one was seen. */
        readonly absences: number;
        readonly absentAt: number | null;
        /** Inconclusive answers so far; drives the backoff. */
        readonly asked: number;
      } & Reconciling)
    | { readonly state: 'dead_lettered'; readonly reason: DeadLetterReason; readonly detail: string }
    | {
        readonly state: 'committed';
        readonly proof: Proof;
        readonly data: Json;
        /** Looked at once more, see `needsReview`. */
        readonly reviewed: boolean;
      }
    | { readonly state: 'failed'; readonly failure: Failure }
    | { readonly state: 'denied'; readonly failure: Failure }
    | { readonly state: 'cancelled'; readonly by: string }
    | { readonly state: 'expired' }
  );

export type StateName = Intent['state'];
export type In<S extends StateName> = Extract<Intent, { state: S }>;

export const terminalStates = ['committed', 'failed', 'denied', 'cancelled', 'expired'] as const;
export type TerminalState = (typeof terminalStates)[number];

export function isTerminal(intent: Intent): intent is In<TerminalState> {
  return (terminalStates as readonly string[]).includes(intent.state);
}

/** True when one of the attempts may have taken effect, as far as anyone knows; the open one is not counted. */
export function mayHaveRun(attempts: readonly Attempt[]): boolean {
  return attempts.some((a) => a.verdict === 'unknown' || a.verdict === 'accepted');
}

/**
 * Attempts against the limit. Those that provably never left are no wire attempts and do not use those up; they have
 * as many of their own, so that trying ends.
 */
export function countedAttempts({ attempts }: Intent): number {
  const sent = attempts.filter((a) => a.sent).length;
  return Math.max(sent, attempts.length - sent);
}

/**
 * True when a commit deserves one more look: an earlier attempt had been ruled out by absences, so a second effect
 * would show the upstream's declared maximum processing time to be wrong, and the lookup can count.
 */
export function needsReview(intent: In<'committed'>): boolean {
  return (
    intent.proposal.terms.counts === true && !intent.reviewed && intent.attempts.some((a) => a.verdict === 'absent')
  );
}

/** What is known about the effect; `undecided` means that nothing has happened so far, and it may still be sent. */
export type Outcome = 'executed' | 'not_executed' | 'unknown' | 'undecided';

export function outcomeOf(intent: Intent): Outcome {
  switch (intent.state) {
    case 'committed':
      return 'executed';
    case 'failed':
    case 'denied':
    case 'cancelled':
    case 'expired':
      return intent.corrections.some((c) => c.finding !== 'second_effect') ? 'executed' : 'not_executed';
    case 'accepted':
    case 'unknown':
      return 'unknown';
    case 'dead_lettered':
      if (intent.reason === 'partial_effect') return 'unknown';
      return mayHaveRun(intent.attempts) ? 'unknown' : 'undecided';
    case 'dispatching':
    case 'pending':
    case 'awaiting_approval':
    case 'authorized':
      return mayHaveRun(intent.attempts) ? 'unknown' : 'undecided';
  }
}
