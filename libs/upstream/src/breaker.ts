import type { Upstream } from '@intendant/contracts';
import type { Verdict } from '@intendant/intent';
import { monotonic } from '@intendant/runtime';
import {
  type CircuitBreakerPolicy,
  CircuitState,
  ConsecutiveBreaker,
  circuitBreaker,
  handleWhenResult,
  isBrokenCircuitError,
} from 'cockatiel';
import { evidenceOf } from './breaker-evidence.js';
import { showCircuit } from './upstream-metrics.js';

export interface BreakerSettings {
  /** So many attempts in a row without an answer open it. */
  readonly failures: number;
  /** How long nothing is sent then, before one attempt tries. */
  readonly pauseMs: number;
}

/**
 * In a row, not a share: an upstream that answers some requests is not down, and a tool of it that hangs must not take the
 * others with it. Twenty: a restart of the upstream resets fewer, and where there are fewer calls than that, nothing is
 * gained by keeping them back. Five seconds: an upstream that is down hears from each process once in that time, and one
 * that is back waits for it no longer.
 */
const usual: BreakerSettings = { failures: 20, pauseMs: 5_000 };
/** How long whoever comes while one attempt tries is sent away for; that one may be over at once, or run into its limit. */
const tryingMs = 1_000;

/**
 * Circuit breakers, one per upstream name; a sandbox has a name of its own. They spare time and slots of both sides, and prove
 * nothing: what they know is of this process only, and is lost with it. Lookups pass them by: they are how an unknown
 * outcome ends, and the last one before its deadline must not be kept back by what happened to calls.
 */
export class Breakers {
  readonly #breakers = new Map<string, Breaker>();

  constructor(private readonly settings: BreakerSettings = usual) {}

  /** Runs `attempt`, which never rejects, unless the circuit is open: then nothing is sent, and `not_executed` says so. */
  call({ name }: Upstream, attempt: () => Promise<Verdict>): Promise<Verdict> {
    let breaker = this.#breakers.get(name);
    if (!breaker) {
      breaker = new Breaker(name, this.settings);
      this.#breakers.set(name, breaker);
    }
    return breaker.call(attempt);
  }
}

const shown = {
  [CircuitState.Closed]: 'closed',
  [CircuitState.HalfOpen]: 'trying',
  [CircuitState.Open]: 'open',
  [CircuitState.Isolated]: 'open',
} as const;

class Breaker {
  readonly #policy: CircuitBreakerPolicy;
  #openedAt = 0;

  constructor(
    private readonly name: string,
    private readonly settings: BreakerSettings,
  ) {
    // What says nothing is not counted while the circuit is closed; as the one attempt that tries, it proves no recovery.
    this.#policy = circuitBreaker(
      handleWhenResult((verdict) => evidenceOf(verdict as Verdict) !== 'answered'),
      { halfOpenAfter: settings.pauseMs, breaker: new ConsecutiveBreaker(settings.failures) },
    );
    this.#policy.onBreak(() => {
      this.#openedAt = monotonic();
    });
    showCircuit(name, 'closed');
    this.#policy.onStateChange((state) => {
      showCircuit(name, shown[state]);
    });
  }

  async call(attempt: () => Promise<Verdict>): Promise<Verdict> {
    if (this.#policy.state === CircuitState.Closed) return this.#observed(await attempt());
    // The policy would let the others wait for the one that tries, on leases that run.
    if (this.#policy.state === CircuitState.HalfOpen) return this.#refusal(tryingMs);
    const restMs = this.#openedAt + this.settings.pauseMs - monotonic();
    if (restMs > 0) return this.#refusal(restMs);
    try {
      return await this.#policy.execute(attempt);
    } catch (error) {
      // Its clock is another one, and may say that the pause is not over.
      if (isBrokenCircuitError(error)) return this.#refusal(tryingMs);
      throw error;
    }
  }

  /** Attempts that began while the circuit was closed and end when it no longer is say nothing about its recovery. */
  async #observed(verdict: Verdict): Promise<Verdict> {
    if (this.#policy.state !== CircuitState.Closed || evidenceOf(verdict) === 'none') return verdict;
    return this.#policy.execute(() => verdict);
  }

  #refusal(restMs: number): Verdict {
    const retryAfterMs = Math.ceil(restMs);
    const { failures } = this.settings;
    const detail = `${this.name} gave no answer to ${failures} or more attempts in a row; nothing is sent for ${retryAfterMs} ms`;
    return { kind: 'not_executed', cause: 'circuit_open', transient: true, retryAfterMs, detail, sent: false };
  }
}
