import type { Logger } from '@intendant/runtime';
import type { Store } from '@intendant/store';
import { type Sweeper, type Swept, sweepAll } from './sweeper.js';

const concurrency = 64;

/** Intents whose run ended, or whose approval expired, before they were sent. */
export class Expire implements Sweeper {
  readonly name = 'expire';

  constructor(
    private readonly store: Store,
    private readonly logger: Logger,
  ) {}

  async runOnce(limit: number): Promise<Swept> {
    const ids = await this.store.sweeps.expired(limit);
    return sweepAll(
      ids,
      concurrency,
      async (intentId) =>
        (await this.store.door.execute({ intentId, command: { type: 'expire' } })).kind === 'accepted',
      (intentId, error) => this.logger.error({ err: error, intentId }, `${this.name} failed`),
    );
  }
}
