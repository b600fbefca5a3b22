import { quantile } from './statistics.js';

/** `kept`: recorded, without its outcome yet. `unavailable`: turned away, to be sent again later. */
export type Answer = 'settled' | 'kept' | 'unavailable' | 'wrong';

export interface Quantiles {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** So many arrivals a second, evenly spaced, for so many seconds. */
export interface Phase {
  readonly perSecond: number;
  readonly seconds: number;
}

/** What became of the requests that were due in one phase. Times in ms; latencies count from the scheduled arrival. */
export interface PhaseResult {
  readonly counts: Readonly<Record<Answer | 'unanswered', number>>;
  readonly settled: Quantiles;
  /** Of all answers, also of those that turn away. */
  readonly answered: Quantiles;
  /** How late the generator itself was: part of every latency. */
  readonly behind: Quantiles;
  /** By second of the phase: p99 of what was scheduled in it and settled. */
  readonly p99BySecond: readonly number[];
  /** Requests due in a second that settled, on average. */
  readonly settledPerSecond: number;
}

export interface OpenResult {
  readonly phases: readonly PhaseResult[];
  /** Numbers of the requests, over all phases, that were answered as recorded, settled or not. */
  readonly recorded: readonly number[];
  /** A wrong answer; null when there is none. */
  readonly example: string | null;
}

interface Request {
  readonly phase: number;
  /** On the clock of `performance.now()`. */
  readonly dueAt: number;
}

/**
 * Book-keeping of an open loop. Latency counts from the time a request was to be sent, not from when it was: a system
 * (or a generator) that stalls makes everything due meanwhile late, instead of being asked less (no coordinated omission).
 */
export class OpenLoop {
  private readonly requests: readonly Request[];
  private readonly sentAt: Float64Array;
  private readonly answeredAt: Float64Array;
  private readonly kinds: (Answer | null)[];
  private open: number;
  private example: string | null = null;

  constructor(
    private readonly phases: readonly Phase[],
    /** Of the first arrival, on the clock of `performance.now()`. */
    private readonly startsAt: number,
  ) {
    this.requests = phases.flatMap(({ perSecond, seconds }, phase) => {
      const begin = this.beginOf(phase);
      return Array.from({ length: arrivalsIn([{ perSecond, seconds }]) }, (_, i) => ({
        phase,
        dueAt: begin + (i * 1000) / perSecond,
      }));
    });
    this.open = this.requests.length;
    this.sentAt = new Float64Array(this.open);
    this.answeredAt = new Float64Array(this.open);
    this.kinds = Array.from({ length: this.open }, () => null);
  }

  get count(): number {
    return this.requests.length;
  }

  get finished(): boolean {
    return this.open === 0;
  }

  /** When a request is to be sent; never for one that is none. */
  dueAt(index: number): number {
    return this.requests[index]?.dueAt ?? Number.POSITIVE_INFINITY;
  }

  sent(index: number, now: number): void {
    this.sentAt[index] = now;
  }

  /** Only the first answer counts; `text` describes a wrong one. */
  answer(index: number, kind: Answer, now: number, text: () => string): void {
    if (this.kinds[index] !== null) return;
    this.kinds[index] = kind;
    this.answeredAt[index] = now;
    this.open -= 1;
    if (kind === 'wrong') this.example ??= text();
  }

  result(): OpenResult {
    const recorded = [...this.requests.keys()].filter((i) => this.kinds[i] === 'settled' || this.kinds[i] === 'kept');
    return { phases: this.phases.map((_, phase) => this.resultOf(phase)), recorded, example: this.example };
  }

  private resultOf(phase: number): PhaseResult {
    const { seconds } = this.phases[phase] as Phase;
    const all = [...this.requests.keys()].filter((i) => this.requests[i]?.phase === phase);
    const of = (kind: Answer | null) => all.filter((i) => this.kinds[i] === kind);
    const latency = (i: number) => (this.answeredAt[i] ?? 0) - this.dueAt(i);
    const bySecond: number[][] = Array.from({ length: Math.ceil(seconds) }, () => []);
    const settled = of('settled');
    for (const i of settled) bySecond[Math.floor((this.dueAt(i) - this.beginOf(phase)) / 1000)]?.push(latency(i));
    return {
      counts: {
        settled: settled.length,
        kept: of('kept').length,
        unavailable: of('unavailable').length,
        wrong: of('wrong').length,
        unanswered: of(null).length,
      },
      settled: quantiles(settled.map(latency)),
      answered: quantiles(all.filter((i) => this.kinds[i] !== null).map(latency)),
      behind: quantiles(all.map((i) => (this.sentAt[i] ?? 0) - this.dueAt(i))),
      p99BySecond: bySecond.map((each) => quantiles(each).p99),
      settledPerSecond: settled.length / seconds,
    };
  }

  private beginOf(phase: number): number {
    return this.startsAt + this.phases.slice(0, phase).reduce((sum, each) => sum + each.seconds * 1000, 0);
  }
}

/** How many requests arrive in all. */
export function arrivalsIn(phases: readonly Phase[]): number {
  return phases.reduce((sum, { perSecond, seconds }) => sum + Math.max(1, Math.round(perSecond * seconds)), 0);
}

function quantiles(values: readonly number[]): Quantiles {
  const sorted = [...values].sort((a, b) => a - b);
  return { p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99), max: quantile(sorted, 1) };
}
