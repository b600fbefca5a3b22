import { keepsKey, type LookupAnswer, type PollAnswer, type Terms, type Verdict } from '@intendant/intent';

/** What becomes of one request; decided when it is sent, and known to nobody but the upstream. */
export const fates = [
  'not_sent',
  'refused',
  'executed',
  'executed_silently',
  'lost',
  'promised_and_done',
  'promised_and_forgotten',
  'crash_after_sending',
  'crash_before_sending',
] as const;
export type Fate = (typeof fates)[number];

/** How a request goes; the shares say how much of what is declared is used up, in the worst case all of it. */
export interface Sending {
  readonly fate: Fate;
  /** When its bytes leave, as a share of the lease; above 1 by a sender that was stopped after its last look at it. */
  readonly leave: number;
  /** When it takes effect, as a share of the declared processing time; above 1 it is broken. */
  readonly work: number;
  /** How much of what is left of the settle time the lookup lags. */
  readonly lag: number;
  /** When the answer comes, as a share of twice the lease. */
  readonly answer: number;
  readonly transient: boolean;
}

export interface Request {
  readonly attemptId: string;
  readonly arrivesAt: number;
  /** When it takes effect unless the key is remembered; null where it never does. */
  readonly runsAt: number | null;
  /** From when on the lookup finds what it did. */
  readonly visibleAt: number;
  /** What the dispatcher will learn, and when; null where it dies before. */
  readonly verdict: Verdict | null;
  readonly answeredAt: number;
}

/** Clocks that decisions are made by lag this much at most, in ms; a settle time has room for it. */
export const clockSkewMs = ({ settleMs }: Terms): number => Math.min(3, settleMs);

/** An upstream that keeps what its tool declares, in the worst way that still keeps it. */
export class Upstream {
  /** In the order of their attempts. */
  readonly requests: Request[] = [];
  private readonly terms: Terms;

  constructor(terms: Terms) {
    this.terms = terms;
  }

  /** A request of an attempt that was started `now`, or a little before, and whose lease ends at `leaseUntil`. */
  send(attemptId: string, sending: Sending, now: number, leaseUntil: number): void {
    const { fate, leave, work, lag, answer, transient } = sending;
    const { leaseMs, settleMs } = this.terms;
    const arrivesAt = now + Math.floor(leave * Math.max(0, leaseUntil - 1 - now));
    const longest = settleMs - clockSkewMs(this.terms);
    const workMs = Math.floor(work * longest);
    const visibleAt = arrivesAt + workMs + Math.floor(lag * Math.max(0, longest - workMs));
    const runs =
      fate === 'executed' ||
      fate === 'executed_silently' ||
      fate === 'promised_and_done' ||
      fate === 'crash_after_sending';
    const runsAt = runs ? arrivesAt + workMs : null;
    const answeredAt = (fate === 'executed' ? arrivesAt + workMs : arrivesAt) + Math.floor(answer * 2 * leaseMs);
    this.requests.push({ attemptId, arrivesAt, runsAt, visibleAt, verdict: verdictOf(fate, transient), answeredAt });
  }

  /** How many effects there are at that time; without one, how many there will be of what was sent so far. */
  effects(until = Number.POSITIVE_INFINITY): number {
    return this.executed().filter((r) => (r.runsAt as number) <= until).length;
  }

  /** The tool's lookup: honest, within what it is declared to be worth. */
  ask(now: number, works: boolean): LookupAnswer {
    if (!works || this.terms.lookup === 'none') return { kind: 'cannot_tell', detail: 'no answer' };
    if (this.executed().some((r) => r.visibleAt <= now)) return { kind: 'present', data: 'receipt' };
    return { kind: 'absent' };
  }

  /** What became of the last request that was promised: it ends as it was fated, once its time is over. */
  poll(now: number, works: boolean): PollAnswer {
    const promised = this.requests.findLast((r) => r.verdict?.kind === 'accepted');
    if (!works || !promised || now < promised.arrivesAt + this.terms.settleMs) return { kind: 'pending', detail: '' };
    const done = this.effects(now) > 0;
    return done ? { kind: 'executed', data: 'receipt' } : { kind: 'failed', detail: 'given up' };
  }

  /** Those that take effect: a remembered key lets none through. A key is forgotten as early as is declared. */
  private executed(): readonly Request[] {
    const running = this.requests.filter((r) => r.runsAt !== null);
    if (!keepsKey(this.terms)) return running;
    const through: Request[] = [];
    for (const request of running.sort((a, b) => a.arrivesAt - b.arrivesAt)) {
      const remembered = through.some((r) => request.arrivesAt < r.arrivesAt + this.terms.retentionMs);
      if (!remembered) through.push(request);
    }
    return through;
  }
}

export function verdictOf(fate: Fate, transient: boolean): Verdict | null {
  switch (fate) {
    case 'not_sent':
      return { kind: 'not_executed', cause: 'connect_refused', transient, retryAfterMs: null, detail: '', sent: false };
    case 'refused':
      return { kind: 'not_executed', cause: 'http_422', transient: false, retryAfterMs: null, detail: '' };
    case 'executed':
      return { kind: 'executed', data: 'receipt' };
    case 'executed_silently':
    case 'lost':
      return { kind: 'unknown', cause: 'call_timeout', detail: '' };
    case 'promised_and_done':
    case 'promised_and_forgotten':
      return { kind: 'accepted', data: 'job' };
    case 'crash_after_sending':
    case 'crash_before_sending':
      return null;
  }
}
