import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from './logger.js';

export interface LoopOptions {
  readonly name: string;
  /** Pause when there was nothing to do, in ms. */
  readonly idleMs: number;
  /** Least pause after every unit, even when woken, in ms: what comes meanwhile is done together. None when left out. */
  readonly restMs?: number;
  readonly logger: Logger;
  /** One unit of work; returns how much it did. More than 0: the next follows at once. */
  readonly runOnce: () => Promise<number>;
}

/**
 * Runs a duty again and again until stopped. An error is logged and followed by a pause that doubles up to ten times
 * the idle pause, so that a database that is away is not hammered. `wake` ends the pause of an idle loop, never that of a failing one.
 */
export class Loop {
  private readonly stopped = new AbortController();
  private pause = new AbortController();
  private awake = false;
  private running: Promise<void> = Promise.resolve();

  constructor(private readonly options: LoopOptions) {}

  start(): void {
    this.running = this.run();
  }

  wake(): void {
    this.awake = true;
    this.pause.abort();
  }

  /** Resolves when the unit of work in progress is done. */
  async stop(): Promise<void> {
    this.stopped.abort();
    this.pause.abort();
    await this.running;
  }

  private async run(): Promise<void> {
    const { name, idleMs, restMs = 0, logger, runOnce } = this.options;
    let failures = 0;
    while (!this.stopped.signal.aborted) {
      this.awake = false;
      let done = 0;
      try {
        done = await runOnce();
        failures = 0;
      } catch (error) {
        failures += 1;
        logger.error({ err: error, failures }, `${name} failed`);
      }
      if (failures > 0) {
        await this.sleep(Math.min(idleMs * 2 ** Math.min(failures, 10), idleMs * 10), this.stopped.signal);
        continue;
      }
      if (restMs > 0) await this.sleep(restMs, this.stopped.signal);
      if (done === 0 && !this.awake) await this.idle(idleMs);
    }
  }

  private async idle(ms: number): Promise<void> {
    if (this.stopped.signal.aborted || this.awake) return;
    this.pause = new AbortController();
    await this.sleep(ms, this.pause.signal);
  }

  private async sleep(ms: number, signal: AbortSignal): Promise<void> {
    await wait(ms, undefined, { signal }).catch(() => undefined);
  }
}
