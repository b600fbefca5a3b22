import type { Bus } from '@intendant/bus';
import type { OutboxMessage } from '@intendant/contracts';
import { faultPoint, gauge, type Logger, Loop, watchAge } from '@intendant/runtime';
import type { Store } from '@intendant/store';

const batchSize = 500;
/** Who commits a message publishes it, too; only what is still there after this long is for the relay, in ms. */
const leftAfterMs = 2_000;
const pollMs = 500;

const oldest = gauge({
  name: 'intendant_outbox_oldest_seconds',
  help: 'For how long the oldest message in the outbox has been waiting for the bus.',
  labels: [],
});

/**
 * Carries to the bus what stayed in the outbox, because its service died, lost the bus or has too much to do: claim,
 * publish, acknowledge, delete. Knows no intent.
 */
export class Relay {
  private readonly loop: Loop;
  private readonly age: Loop;

  constructor(
    private readonly store: Store,
    private readonly bus: Bus,
    private readonly logger: Logger,
    private readonly olderThanMs = leftAfterMs,
  ) {
    this.loop = new Loop({
      name: 'outbox relay',
      idleMs: pollMs,
      logger,
      runOnce: () => this.runOnce(batchSize),
    });
    const readMs = () => store.outbox.oldestMs();
    this.age = watchAge({ name: 'age of the outbox', gauge: oldest, readMs, logger });
  }

  start(): void {
    this.loop.start();
    this.age.start();
  }

  async stop(): Promise<void> {
    await Promise.all([this.loop.stop(), this.age.stop()]);
  }

  /** One batch; returns how many messages left the outbox. */
  async runOnce(limit: number): Promise<number> {
    const publish = async (messages: readonly OutboxMessage[]) => {
      faultPoint('relay.after_claim');
      const { published, failed } = await this.bus.publish(messages);
      faultPoint('relay.after_publish');
      if (failed[0])
        this.logger.warn({ failed: failed.length, first: String(failed[0].error) }, 'messages stay in the outbox');
      return new Set(published);
    };
    const { claimed, published } = await this.store.outbox.relay(limit, publish, this.olderThanMs);
    // Nothing got through: the bus is away, and asking again at once would only hammer it.
    if (claimed > 0 && published === 0) throw new Error(`none of ${claimed} messages could be published`);
    return published;
  }
}
