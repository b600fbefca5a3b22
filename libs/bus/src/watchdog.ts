import { Logger } from '@nestjs/common';
import type { Bus } from './bus.js';
import { isMissing } from './ensure-topology.js';
import type { WorkLoop } from './work-loop.js';

/** Rebuilds without a delivery before the process is given up. */
const rebuildLimit = 3;

export interface WatchdogOptions {
  readonly everyMs: number;
  /** Rebuilding did not help; the process should exit and be started again. */
  readonly onStuck: (reason: string) => void;
}

/**
 * Looks for a consumer that has messages and delivers none, which clients show after reconnects, without an error.
 * Call `look` from a timer. It is quiet while the server is away or all handlers are busy: then nothing can come.
 */
export class Watchdog {
  private readonly logger = new Logger(Watchdog.name);
  private seen = 0;
  private rebuilds = 0;

  constructor(
    private readonly bus: Bus,
    private readonly loop: WorkLoop,
    private readonly onStuck: (reason: string) => void,
  ) {}

  async look(): Promise<void> {
    if (this.bus.status() !== 'connected') return;
    if (this.moved()) return;
    try {
      const backlog = await this.bus.backlog(this.loop.spec);
      if (this.moved() || backlog === 0) this.rebuilds = 0;
      else this.rebuild(backlog);
    } catch (error) {
      if (isMissing(error)) this.loop.rebuild();
      else this.logger.warn(`cannot look at ${this.name}: ${String(error)}`);
    }
  }

  private moved(): boolean {
    const moved = this.loop.deliveries !== this.seen || this.loop.busy;
    this.seen = this.loop.deliveries;
    if (moved) this.rebuilds = 0;
    return moved;
  }

  private rebuild(backlog: number): void {
    const reason = `${this.name} has ${backlog} messages and delivers none`;
    if (this.rebuilds >= rebuildLimit) {
      this.rebuilds = 0;
      this.onStuck(`${reason}, after ${rebuildLimit} rebuilds of the pull loop`);
      return;
    }
    this.rebuilds += 1;
    this.logger.warn(`${reason}; rebuilding the pull loop (${this.rebuilds} of ${rebuildLimit})`);
    this.loop.rebuild();
  }

  private get name(): string {
    return `${this.loop.spec.stream}/${this.loop.spec.durable}`;
  }
}

/** Starts looking; returns how to stop. */
export function startWatchdog(bus: Bus, loop: WorkLoop, { everyMs, onStuck }: WatchdogOptions): () => void {
  const watchdog = new Watchdog(bus, loop, onStuck);
  const timer = setInterval(() => void watchdog.look(), everyMs);
  timer.unref();
  return () => clearInterval(timer);
}
