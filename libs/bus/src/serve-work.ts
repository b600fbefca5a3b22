import { Logger } from '@nestjs/common';
import type { Bus } from './bus.js';
import type { WorkMessage } from './messages.js';
import type { DurableSpec } from './topology.js';
import { startWatchdog, type WatchdogOptions } from './watchdog.js';
import { WorkLoop } from './work-loop.js';

export interface ServedWork {
  readonly spec: DurableSpec;
  /** Handlers running at once in this process. */
  readonly concurrency: number;
  readonly handle: (message: WorkMessage) => Promise<unknown>;
}

/**
 * Handles the messages of a durable consumer as `@OnWork` does, for consumers that nobody knows before the settings are
 * read. Resolves once it pulls, with how to stop: what runs is finished.
 *
 * @throws TopologyMismatch
 */
export async function serveWork(
  bus: Bus,
  { spec, concurrency, handle }: ServedWork,
  { everyMs = 30_000, onStuck = stopProcess }: Partial<WatchdogOptions> = {},
): Promise<() => Promise<void>> {
  const loop = new WorkLoop(bus, spec, concurrency, handle);
  await loop.start();
  const stopWatching = startWatchdog(bus, loop, { everyMs, onStuck });
  return async () => {
    stopWatching();
    await loop.stop();
  };
}

/** SIGTERM: it stops cleanly and is started again. */
function stopProcess(reason: string): void {
  new Logger(serveWork.name).error(`${reason}; stopping, to be started again`);
  process.kill(process.pid, 'SIGTERM');
}
