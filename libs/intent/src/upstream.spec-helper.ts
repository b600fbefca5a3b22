import { keepsKey, type Terms } from './terms.js';
import type { LookupAnswer, PollAnswer, Verdict } from './verdict.js';

/** What becomes of one request; decided when it is sent, and known to nobody but the upstream. */
export type Fate =
  | 'not_sent'
  | 'refused'
  | 'executed'
  | 'executed_silently'
  | 'lost'
  | 'promised_and_done'
  | 'promised_and_forgotten'
  | 'crash_after_sending'
  | 'crash_before_sending';

export const fates: readonly Fate[] = [
  'not_sent',
  'refused',
  'executed',
  'executed_silently',
  'lost',
  'promised_and_done',
  'promised_and_forgotten',
  'crash_after_sending',
  'crash_before_sending',
];

export interface Request {
  readonly attemptId: string;
  /** When its bytes arrive; before the end of the lease. */
  readonly arrivesAt: number;
  /** When it takes effect, or null; within the declared processing time. */
  readonly effectAt: number | null;
  /** What the dispatcher will learn, and when; null where it dies before. */
  readonly verdict: Verdict | null;
  readonly answeredAt: number;
}

/** An upstream that keeps what its tool declares, in the worst way that still keeps it. */
export class Upstream {
  readonly requests: Request[] = [];
  private readonly terms: Terms;

  constructor(terms: Terms) {
    this.terms = terms;
  }

  /** `leave`, `work`, `answer` in [0, 1]: how much of the lease, the settle time, and beyond is used. */
  send(
    attemptId: string,
    fate: Fate,
    now: number,
    { leave, work, answer, transient }: { leave: number; work: number; answer: number; transient: boolean },
  ): void {
    const arrivesAt = now + Math.floor(leave * (this.terms.leaseMs - 1));
    const effectAt = arrivesAt + Math.floor(work * this.terms.settleMs);
    const runs =
      fate === 'executed' ||
      fate === 'executed_silently' ||
      fate === 'promised_and_done' ||
      fate === 'crash_after_sending';
    const repeated = this.remembers(arrivesAt);
    const answeredAt = (fate === 'executed' ? effectAt : arrivesAt) + Math.floor(answer * 2 * this.terms.leaseMs);
    const request = { attemptId, arrivesAt, effectAt: runs && !repeated ? effectAt : null, answeredAt };
    this.requests.push({ ...request, verdict: verdictOf(fate, transient) });
  }

  effects(until = Number.POSITIVE_INFINITY): number {
    return this.requests.filter((r) => r.effectAt !== null && r.effectAt <= until).length;
  }

  /** The tool's lookup: honest, within what it is declared to be worth. */
  ask(now: number, works: boolean): LookupAnswer {
    if (!works || this.terms.lookup === 'none') return { kind: 'cannot_tell', detail: 'no answer' };
    if (this.effects(now) > 0) return { kind: 'present', data: 'receipt' };
    return { kind: 'absent' };
  }

  /** What became of the last request that was promised: it ends as it was fated, once its time is over. */
  poll(now: number, works: boolean): PollAnswer {
    const promised = this.requests.findLast((r) => r.verdict?.kind === 'accepted');
    if (!works || !promised || now < promised.arrivesAt + this.terms.settleMs) return { kind: 'pending', detail: '' };
    const done = this.effects(now) > 0;
    return done ? { kind: 'executed', data: 'receipt' } : { kind: 'failed', detail: 'given up' };
  }

  /** A key is forgotten as early as the declared retention allows. */
  private remembers(arrivesAt: number): boolean {
    if (!keepsKey(this.terms)) return false;
    return this.requests.some((r) => r.effectAt !== null && arrivesAt < r.arrivesAt + this.terms.retentionMs);
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
