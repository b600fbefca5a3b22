import { NoAnswer } from './http.js';

const firstPauseMs = 100;
const longestPauseMs = 2_000;

/** How long a caller goes on trying. */
export class Patience {
  private readonly deadline: number;
  private pauseMs = firstPauseMs;

  constructor(
    ms: number,
    private readonly signal?: AbortSignal,
  ) {
    this.deadline = performance.now() + ms;
  }

  /** In ms; 0 when the time is over or the caller gave up. */
  get leftMs(): number {
    return this.signal?.aborted ? 0 : Math.max(0, this.deadline - performance.now());
  }

  /** A pause that doubles, and is at least what the server asked for; no longer than the time that is left. */
  async pause(atLeastMs = 0): Promise<void> {
    const ms = Math.min(this.leftMs, Math.max(atLeastMs, this.pauseMs * (0.5 + Math.random())));
    this.pauseMs = Math.min(this.pauseMs * 2, longestPauseMs);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(done, ms);
      const { signal } = this;
      signal?.addEventListener('abort', done);
      function done() {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        resolve();
      }
    });
  }

  /** Does it again for as long as nothing answers. @throws NoAnswer when the time is over, whatever else `work` throws */
  async insist<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof NoAnswer) || this.leftMs === 0) throw error;
        await this.pause(error.retryAfterMs);
        if (this.leftMs === 0) throw error;
      }
    }
  }
}
