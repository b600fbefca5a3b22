import type { Store } from '@intendant/store';
import type { Sweeper, Swept } from './sweeper.js';

/** Authorized intents that nobody picked up: their announcement was lost, or every dispatcher was away. */
export class AnnounceAgain implements Sweeper {
  readonly name = 'announce-again';
  /** Together they bound what a long backlog costs, and how long a retry waits behind one. */
  readonly restMs = 250;
  readonly batchSize = 2_000;

  constructor(private readonly store: Store) {}

  async runOnce(limit: number): Promise<Swept> {
    const announced = await this.store.sweeps.announceAgain(limit);
    return { found: announced, changed: announced, failed: 0 };
  }
}
