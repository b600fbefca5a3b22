import { gauge, type Logger, Loop, watchAge } from '@intendant/runtime';
import type { Store } from '@intendant/store';
import type { Sweeper, Swept } from './sweeper.js';

const batchSize = 200;
/** How often each sweeper looks when there was nothing to do, in ms. */
const pollMs = 250;
/** How long a pass of a loop waits for slow upstreams before the next one begins beside it, in ms. */
const patienceMs = 250;
/** Partitions are made two months ahead; once an hour is plenty. */
const housekeepingMs = 3_600_000;

const oldest = gauge({
  name: 'intendant_unknown_oldest_seconds',
  help: 'For how long the outcome of the oldest such intent has been unknown.',
  labels: [],
});

/** All sweepers, each in a loop of its own, so that slow lookups do not delay the rescue of others. */
export class Reconciler {
  private readonly loops: Loop[];

  constructor(
    private readonly sweepers: readonly Sweeper[],
    private readonly store: Store,
    private readonly logger: Logger,
  ) {
    this.loops = sweepers.map(
      (sweeper) =>
        new Loop({
          name: sweeper.name,
          idleMs: pollMs,
          restMs: sweeper.restMs ?? 0,
          logger,
          runOnce: async () => {
            const { found, failed } = await sweeper.runOnce(sweeper.batchSize ?? batchSize, patienceMs);
            return found - failed;
          },
        }),
    );
    const housekeeping = async () => {
      await store.sweeps.ensureEventPartitions();
      return 0;
    };
    this.loops.push(new Loop({ name: 'partitions', idleMs: housekeepingMs, logger, runOnce: housekeeping }));
    const forget = () => store.sweeps.pruneYields();
    this.loops.push(new Loop({ name: 'identifiers', idleMs: housekeepingMs, logger, runOnce: forget }));
    const readMs = () => store.sweeps.oldestUnknownMs();
    this.loops.push(watchAge({ name: 'age of the oldest unknown', gauge: oldest, readMs, logger }));
  }

  start(): void {
    for (const loop of this.loops) loop.start();
  }

  async stop(): Promise<void> {
    await Promise.all(this.loops.map((loop) => loop.stop()));
    await Promise.all(this.sweepers.map((sweeper) => sweeper.finish?.()));
  }

  /**
   * One pass of every sweeper, for cron and for operators; counts by name. One that cannot work at all counts as one
   * failure and does not keep the others from theirs.
   */
  async runOnce(): Promise<Record<string, Swept>> {
    const counts: Record<string, Swept> = {};
    for (const sweeper of this.sweepers) counts[sweeper.name] = await this.attempt(sweeper);
    const partitions = async () => ({ found: 0, changed: await this.store.sweeps.ensureEventPartitions(), failed: 0 });
    const forget = async () => ({ found: 0, changed: await this.store.sweeps.pruneYields(), failed: 0 });
    counts['identifiers'] = await this.attempt({ name: 'identifiers', runOnce: forget });
    counts['event-partitions'] = await this.attempt({ name: 'event-partitions', runOnce: partitions });
    return counts;
  }

  private async attempt(sweeper: Sweeper): Promise<Swept> {
    try {
      return await sweeper.runOnce(sweeper.batchSize ?? batchSize);
    } catch (error) {
      this.logger.error({ err: error }, `${sweeper.name} failed`);
      return { found: 0, changed: 0, failed: 1 };
    }
  }
}
