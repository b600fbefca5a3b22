import type { LoadResult } from './load-job.js';
import { quantile } from './statistics.js';

/**
 * Book-keeping of one closed loop, the same for every protocol: which request goes next, how long each took, when all
 * are done.
 */
export class ClosedLoop {
  readonly finished: Promise<LoadResult>;
  private readonly sentAt: Float64Array;
  private readonly tookMs: Float64Array;
  private cpu = process.cpuUsage();
  private startedAt = performance.now();
  private next = 0;
  private answered = 0;
  private failures = 0;
  private example: string | null = null;
  private finish: (result: LoadResult) => void = () => undefined;

  constructor(private readonly count: number) {
    this.sentAt = new Float64Array(count);
    this.tookMs = new Float64Array(count);
    this.finished = new Promise((resolve) => {
      this.finish = resolve;
    });
  }

  /** From here on time counts: what was made ready before does not. */
  begin(): void {
    this.cpu = process.cpuUsage();
    this.startedAt = performance.now();
  }

  /** Index of the request to send now, or null when all are on their way. */
  take(): number | null {
    if (this.next >= this.count) return null;
    this.sentAt[this.next] = performance.now();
    return this.next++;
  }

  /** `failure` describes an answer that is not the settled result. */
  answer(index: number, failure: string | null): void {
    this.tookMs[index] = performance.now() - (this.sentAt[index] ?? 0);
    if (failure !== null) {
      this.failures += 1;
      this.example ??= failure;
    }
    this.answered += 1;
    if (this.answered === this.count) this.finish(this.result());
  }

  private result(): LoadResult {
    const seconds = (performance.now() - this.startedAt) / 1000;
    const { user, system } = process.cpuUsage(this.cpu);
    const sorted = [...this.tookMs].sort((a, b) => a - b);
    return {
      seconds,
      p50: quantile(sorted, 0.5),
      p95: quantile(sorted, 0.95),
      p99: quantile(sorted, 0.99),
      failures: this.failures,
      example: this.example,
      cpuSeconds: (user + system) / 1e6,
    };
  }
}
