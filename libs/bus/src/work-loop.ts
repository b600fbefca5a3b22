import { Refusal } from '@intendant/contracts';
import type { Consumer, ConsumerMessages } from '@nats-io/jetstream';
import { Logger } from '@nestjs/common';
import type { Bus } from './bus.js';
import type { WorkMessage } from './messages.js';
import { FailureCounts, redeliveryDelay } from './redelivery.js';
import { Signal } from './signal.js';
import type { DurableSpec } from './topology.js';
import { WorkInHand } from './work-in-hand.js';

/** How long one pull stays open on the server, and how often the server shows that it is still there. */
const pull = { expires: 10_000, idle_heartbeat: 2_500 } as const;
const rebuildDelayMs = 500;

/**
 * Pulls from one durable consumer and runs handlers. It asks the server for exactly as many messages as handlers are
 * free: a prefetched message would use up its `ack_wait` in a queue and be handled twice without any crash.
 */
export class WorkLoop {
  /** Messages delivered so far; the watchdog compares it. */
  deliveries = 0;
  private readonly logger = new Logger(WorkLoop.name);
  private readonly inHand = new Set<WorkInHand>();
  private readonly failures = new FailureCounts();
  private readonly changed = new Signal();
  private open: ConsumerMessages | undefined;
  private consumer: Consumer | undefined;
  private stopping = false;
  private pulling: Promise<void> = Promise.resolve();
  private heartbeat: NodeJS.Timeout | undefined;
  private unwatch = () => {};

  constructor(
    private readonly bus: Bus,
    readonly spec: DurableSpec,
    private readonly concurrency: number,
    private readonly handle: (message: WorkMessage) => Promise<unknown>,
  ) {}

  /** Makes sure of the consumer and starts. @throws TopologyMismatch */
  async start(): Promise<void> {
    this.consumer = await this.bus.durable(this.spec);
    this.heartbeat = setInterval(() => {
      for (const work of this.inHand) work.extend();
    }, this.spec.ackWaitMs / 3);
    // A pull that was open when the connection broke is gone on the server.
    this.unwatch = this.bus.onStatus((status) => {
      if (status === 'reconnecting') this.endPull();
      this.changed.notify();
    });
    this.pulling = this.run();
  }

  /** No handler is free. */
  get busy(): boolean {
    return this.inHand.size >= this.concurrency;
  }

  /** Forgets the consumer, so that it is looked up, and created when it is missing, before the next pull. */
  rebuild(): void {
    this.consumer = undefined;
    this.endPull();
  }

  /** Stops pulling, gives back what no handler has, and waits for the handlers that run. */
  async stop(): Promise<void> {
    this.stopping = true;
    this.endPull();
    this.changed.notify();
    await this.pulling;
    while (this.inHand.size > 0) await this.changed.next();
    clearInterval(this.heartbeat);
    this.unwatch();
  }

  private async run(): Promise<void> {
    while (!this.stopping) {
      try {
        if (this.busy || this.bus.status() !== 'connected') await this.changed.next();
        else await this.pullOnce(this.concurrency - this.inHand.size);
      } catch (error) {
        this.consumer = undefined;
        if (this.stopping) return;
        this.logger.warn(
          `pulling from ${this.spec.stream}/${this.spec.durable} failed, trying again: ${String(error)}`,
        );
        await this.changed.next(rebuildDelayMs);
      }
    }
  }

  private async pullOnce(count: number): Promise<void> {
    this.consumer ??= await this.bus.durable(this.spec);
    if (this.stopping) return;
    const messages = await this.consumer.fetch({ max_messages: count, ...pull });
    this.open = messages;
    if (this.stopping) this.endPull();
    try {
      for await (const message of messages) {
        this.deliveries += 1;
        const work = new WorkInHand(message);
        if (this.stopping) work.giveBack(0);
        else this.begin(work);
      }
    } finally {
      this.open = undefined;
    }
  }

  private begin(work: WorkInHand): void {
    this.inHand.add(work);
    void this.finish(work).finally(() => {
      this.inHand.delete(work);
      this.changed.notify();
    });
  }

  private async finish(work: WorkInHand): Promise<void> {
    try {
      await this.handle(work);
      work.ack();
      this.failures.succeeded(work.id);
    } catch (error) {
      const tries = this.failures.failed(work.id);
      const delayMs = redeliveryDelay(tries, Math.random());
      const again = work.giveBack(delayMs);
      const next = again ? `again in ${delayMs} ms` : 'it was acknowledged before and does not come back';
      const what = `${work.subject} ${work.id} failed (${tries}), ${next}`;
      // What is refused for now, such as by a service that has too much to do, is no fault of this program.
      if (error instanceof Refusal) this.logger.warn(`${what}: ${error.message}`);
      else this.logger.error(`${what}: ${describe(error)}`);
    }
  }

  private endPull(): void {
    void this.open?.close();
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
