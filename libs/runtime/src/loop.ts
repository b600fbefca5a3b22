import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from './logger.js';

export interface LoopOptions {
  readonly name: string;
  /** Pause when there was nothing to do, in ms. */
  readonly idleMs: number;
  /** Least pause after every unit, in ms: what comes meanwhile is done together. None when left out. */
  readonly restMs?: number;
  readonly logger: Logger;
  /** One unit of work; returns how much it did. More than 0: the next follows at once. */
  readonly runOnce: () => Promise<number>;
}

/**
 * Runs a duty again and again until stopped. An error is logged and followed by a pause that doubles up to ten times
 * the idle pause, so that a database that is away is not hammered.
 */
export class Loop {
  private readonly stopped = new AbortController();
  private running: Promise<void> = Promise.resolve();

  constructor(private readonly options: LoopOptions) {}

  start(): void {
    this.running = this.run();
  }

  /** Resolves when the unit of work in progress is done. */
  async stop(): Promise<void> {
    this.stopped.abort();
    await this.running;
  }

  private async run(): Promise<void> {
    const { name, idleMs, restMs = 0, logger, runOnce } = this.options;
    let failures = 0;
    while (!this.stopped.signal.aborted) {
      let done = 0;
      try {
        done = await runOnce();
        failures = 0;
      } catch (error) {
        failures += 1;
        logger.error({ err: error, failures }, `${name} failed`);
      }
      if (failures > 0) {
        await this.sleep(Math.min(idleMs * 2 ** Math.min(failures, 10), idleMs * 10));
        continue;
      }
      if (restMs > 0) await this.sleep(restMs);
      if (done === 0) await this.sleep(idleMs);
    }
  }

  private async sleep(ms: number): Promise<void> {
    await wait(ms, undefined, { signal: this.stopped.signal }).catch(() => undefined);
  }
}
