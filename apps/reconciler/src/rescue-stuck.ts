import type { Logger } from '@intendant/runtime';
import type { Store } from '@intendant/store';
import { type Sweeper, type Swept, sweepAll } from './sweeper.js';

const concurrency = 64;
const claimMs = 10_000;

/** Attempts whose lease ended without a verdict: their dispatcher died, or was cut off. What happened is unknown. */
export class RescueStuck implements Sweeper {
  readonly name = 'rescue-stuck';

  constructor(
    private readonly store: Store,
    private readonly logger: Logger,
  ) {}

  async runOnce(limit: number): Promise<Swept> {
    const due = await this.store.sweeps.claimDue('dispatching', limit, claimMs);
    return sweepAll(
      due,
      concurrency,
      async ({ intentId }) => {
        const command = { type: 'expire_lease', jitter: Math.random() } as const;
        const result = await this.store.door.execute({ intentId, command });
        if (result.kind === 'accepted')
          this.logger.warn({ intentId, state: result.intent.state }, 'lease ended without a verdict');
        return result.kind === 'accepted';
      },
      ({ intentId }, error) => this.logger.error({ err: error, intentId }, `${this.name} failed`),
    );
  }
}
