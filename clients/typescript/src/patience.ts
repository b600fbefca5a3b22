import { IntendantError } from './errors.js';
import { type Answer, ask, NoAnswer, type Question } from './http.js';

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

  /**
   * Asks again for as long as nothing answers. A refusal that comes after an attempt without an answer is about the later
   * attempt only: the earlier one may have been taken, or may be on its way, so what would be changed is not known.
   *
   * @param question as it is to be asked now
   * @throws IntendantError nothing was changed
   * @throws NoAnswer when the time is over, or where the attempt that was refused was not the only one
   */
  async insist<T>(url: string, question: () => Question<T>): Promise<Answer<T>> {
    let unanswered: NoAnswer | null = null;
    for (;;) {
      const asked = question();
      try {
        return await ask(url, asked);
      } catch (thrown) {
        const error: unknown =
          thrown instanceof IntendantError && unanswered ? refusedLater(unanswered, thrown) : thrown;
        if (!(error instanceof NoAnswer) || (thrown instanceof IntendantError && !thrown.retryable)) throw error;
        if (error.sent && asked.method !== 'GET') unanswered = error;
        if (this.leftMs === 0) throw error;
        await this.pause(error.retryAfterMs);
        if (this.leftMs === 0) throw error;
      }
    }
  }
}

function refusedLater(unanswered: NoAnswer, cause: IntendantError): NoAnswer {
  return new NoAnswer(`${unanswered.message} Asked again, it was refused (${cause.code}).`, 0, { cause });
}
