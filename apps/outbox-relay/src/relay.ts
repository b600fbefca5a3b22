import type { Bus } from '@intendant/bus';
import { faultPoint, type Logger, Loop } from '@intendant/runtime';
import type { Store } from '@intendant/store';

const batchSize = 500;
/** Hints wake the relay; this is how late a message is at most when its hint was lost, in ms. */
const pollMs = 500;
/** Dispatchers hear of their intents by hint, so the relay can let messages gather (docs/performance.md). */
const gatherMs = 20;

/** Carries messages from the outbox to the bus: claim, publish, acknowledge, delete. Knows no intent. */
export class Relay {
  private readonly loop: Loop;

  constructor(
    private readonly store: Store,
    private readonly bus: Bus,
    private readonly logger: Logger,
  ) {
    this.loop = new Loop({
      name: 'outbox relay',
      idleMs: pollMs,
      restMs: gatherMs,
      logger,
      runOnce: () => this.runOnce(batchSize),
    });
  }

  start(): void {
    this.loop.start();
  }

  wake(): void {
    this.loop.wake();
  }

  stop(): Promise<void> {
    return this.loop.stop();
  }

  /** One batch; returns how many messages left the outbox. */
  async runOnce(limit: number): Promise<number> {
    const { claimed, published } = await this.store.outbox.relay(limit, async (messages) => {
      faultPoint('relay.after_claim');
      const { published, failed } = await this.bus.publish(messages);
      faultPoint('relay.after_publish');
      if (failed[0])
        this.logger.warn({ failed: failed.length, first: String(failed[0].error) }, 'messages stay in the outbox');
      return new Set(published);
    });
    // Nothing got through: the bus is away, and asking again at once would only hammer it.
    if (claimed > 0 && published === 0) throw new Error(`none of ${claimed} messages could be published`);
    return published;
  }
}
