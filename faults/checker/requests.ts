import type { EventRow } from '../history/database.js';

/** What people were asked, as the log has it. */
export interface LoggedRequest {
  readonly digest: string;
  readonly quorum: number;
  readonly expiresAt: number;
  readonly selfApproval: boolean;
}

/** Somebody's yes, and what was asked then. */
export interface LoggedAnswer {
  readonly by: string;
  readonly digest: string;
  /** Time of the decision. */
  readonly at: number;
  readonly newest: LoggedRequest;
  /** An attempt may have run by then: what is agreed to is that it is completed. */
  readonly completes: boolean;
}

/** How it stood with the people at one moment. */
export interface Agreed {
  /** The newest last; not empty. */
  readonly requests: readonly LoggedRequest[];
  /** Those that were not taken back. */
  readonly given: readonly LoggedAnswer[];
  readonly refusedBy: string | null;
}

/** What the log says of the people that were asked, read event by event. */
export class Requests {
  readonly all: LoggedRequest[] = [];
  /** Every yes, also those that were taken back. */
  readonly answers: LoggedAnswer[] = [];
  private given: readonly LoggedAnswer[] = [];
  private refusedBy: string | null = null;
  private mayHaveRun = false;
  private why: string | null = null;

  /** Returns what cannot be, or null. */
  note({ type, data, recordedAt: at }: EventRow): string | null {
    if (type === 'outcome_unknown' || type === 'accepted') this.mayHaveRun = true;
    if (type === 'approval_requested') {
      const request = data['request'] as (LoggedRequest & Asked) | undefined;
      if (!request) return 'approval_requested without a request';
      const { digest, quorum, expiresAt, selfApproval } = request;
      this.all.push({ digest, quorum, expiresAt, selfApproval });
      this.why = whyAsked(data['differs'], request, this.why);
    }
    if (type === 'refused') this.refusedBy = String(data['by']);
    if (type === 'approval_withdrawn') this.given = this.given.filter(({ by }) => by !== data['by']);
    if (type !== 'approved') return null;
    const newest = this.all.at(-1);
    if (!newest) return 'approved, and nobody was asked';
    const answer = { by: String(data['by']), digest: String(data['digest']), at, newest, completes: this.mayHaveRun };
    this.answers.push(answer);
    this.given = [...this.given, answer];
    return null;
  }

  /** Null where nobody was asked. */
  get agreed(): Agreed | null {
    const { all, given, refusedBy } = this;
    return all.length === 0 ? null : { requests: [...all], given, refusedBy };
  }

  /** Why it waits for people, in a word. */
  get reason(): string | null {
    return this.why;
  }
}

interface Asked {
  readonly demands?: readonly { readonly rule: string }[];
}

function whyAsked(differs: unknown, { demands = [] }: Asked, before: string | null): string | null {
  const changed = Array.isArray(differs) ? differs.length > 0 : before === 'differs';
  return changed ? 'differs' : (demands[0]?.rule ?? null);
}
