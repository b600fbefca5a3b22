import type { Intent } from '@intendant/intent';
import { hasOutcome } from './has-outcome.js';
import type { IntentReader } from './reader.js';

/** Hints may be lost: a waiting caller looks for itself, soon at first, then ever more rarely. In ms. */
const firstPollMs = 125;
const longestPollMs = 1_000;

export interface WaitOptions {
  readonly signal?: AbortSignal;
  /** How the intent stood a moment ago; saves the first look. */
  readonly known?: Intent;
}

type Wake = (intent: Intent | null) => void;

/** Lets callers wait for an outcome. `notify` is wired to the bus; without it everything works, slower. */
export class OutcomeWaiter {
  private readonly waiting = new Map<string, Set<Wake>>();

  constructor(private readonly reader: IntentReader) {}

  /** Nobody waits: a notice need not even be read. */
  get isIdle(): boolean {
    return this.waiting.size === 0;
  }

  /** Something changed, here or elsewhere: whoever waits for one of these looks again. */
  notify(intentIds: Iterable<string>): void {
    for (const id of intentIds) this.wake(id, null);
  }

  /** These were committed by this very process, so nobody here has to look. Returns those that nobody here waited for. */
  tell(intents: readonly Intent[]): Intent[] {
    return intents.filter((intent) => !this.wake(intent.proposal.intentId, intent));
  }

  /** The intent once it has an outcome, or as it stands after `timeoutMs`; null where there is no such intent. */
  async wait(intentId: string, timeoutMs: number, { signal, known }: WaitOptions = {}): Promise<Intent | null> {
    const deadline = performance.now() + timeoutMs;
    let pollMs = firstPollMs;
    let intent = known ?? null;
    for (let first = true; ; first = false) {
      // Listen before looking: a change in between must not be missed.
      const woken = this.listen(intentId, Math.min(pollMs, deadline - performance.now()), signal);
      if (!first || !intent) {
        intent = await this.reader.load(intentId).catch((error: unknown) => {
          woken.cancel();
          throw error;
        });
      }
      if (!intent || hasOutcome(intent) || performance.now() >= deadline || signal?.aborted) {
        woken.cancel();
        return intent;
      }
      const told = await woken.promise;
      if (told && hasOutcome(told)) return told;
      pollMs = Math.min(pollMs * 2, longestPollMs);
    }
  }

  /** True when somebody waited. */
  private wake(intentId: string, intent: Intent | null): boolean {
    const wakers = this.waiting.get(intentId);
    for (const wake of wakers ?? []) wake(intent);
    return wakers !== undefined;
  }

  private listen(
    intentId: string,
    ms: number,
    signal?: AbortSignal,
  ): { promise: Promise<Intent | null>; cancel: () => void } {
    let cancel = (): void => undefined;
    const promise = new Promise<Intent | null>((resolve) => {
      const wakers = this.waiting.get(intentId) ?? new Set();
      this.waiting.set(intentId, wakers);
      const wake: Wake = (intent) => {
        clearTimeout(timer);
        wakers.delete(wake);
        signal?.removeEventListener('abort', cancel);
        // Called twice, it must not take the entry of somebody who came later.
        if (wakers.size === 0 && this.waiting.get(intentId) === wakers) this.waiting.delete(intentId);
        resolve(intent);
      };
      cancel = () => wake(null);
      const timer = setTimeout(cancel, Math.max(ms, 1));
      wakers.add(wake);
      signal?.addEventListener('abort', cancel);
    });
    return { promise, cancel };
  }
}
