import { type Bus, type DurableSpec, serveWork, type WorkMessage } from '@intendant/bus';
import { busWindows, streams } from '@intendant/contracts';
import { counter, type Logger, wallClock } from '@intendant/runtime';
import { type Channel, eventName, type Notice, type Sent } from './channel.js';
import { readNotice } from './read-notice.js';
import { nextPause, type RetrySchedule, retrySchedule } from './retries.js';

const sent = counter({
  name: 'intendant_notifications_total',
  help: 'Tries to tell a destination, by result: delivered, outdated (nothing to tell any more), failed (comes again), given_up (does not).',
  labels: ['destination', 'result'],
});

/** Sends at once to one destination, in this process. */
const concurrency = 4;
const ackWaitMs = 15_000;
/** How far the clock of the bus may be behind, in ms: a new destination is told what happens from its first start on. */
const clockToleranceMs = 60_000;

export interface NotifierOptions {
  readonly publicUrl: string | null;
  readonly schedule?: RetrySchedule;
}

/** Its place in the stream of events, which all replicas share. */
export function consumerOf({ name, subjects }: Pick<Channel, 'name' | 'subjects'>, since: Date): DurableSpec {
  const optional = { since, forgottenAfterMs: busWindows.eventMs };
  // No bound on what waits for another try: it would stop the delivery of what nobody has tried yet.
  const maxAckPending = -1;
  return { stream: streams.events, durable: `notifier-${name}`, subject: subjects, ackWaitMs, maxAckPending, optional };
}

/**
 * Tells destinations of public events, each at least once: a message is acknowledged when its destination has it, and
 * waits on the bus for its next try until then.
 */
export class Notifier {
  private readonly stops: (() => Promise<void>)[] = [];

  constructor(
    private readonly bus: Bus,
    private readonly channels: readonly Channel[],
    private readonly logger: Logger,
    private readonly options: NotifierOptions,
  ) {}

  /** @throws TopologyMismatch */
  async start(): Promise<void> {
    if (this.channels.length === 0)
      this.logger.info('no destination is set (INTENDANT_WEBHOOKS, INTENDANT_SLACK): nobody is told');
    const since = new Date(wallClock() - clockToleranceMs);
    for (const channel of this.channels) {
      const spec = consumerOf(channel, since);
      const handle = (message: WorkMessage) => this.tell(channel, message);
      const stop = await serveWork(this.bus, { spec, concurrency, handle });
      this.bus.onQuiesce(stop);
      this.stops.push(stop);
    }
  }

  /** Finishes what is being sent. */
  async stop(): Promise<void> {
    await Promise.all(this.stops.map((stop) => stop()));
  }

  private async tell(channel: Channel, message: WorkMessage): Promise<void> {
    const destination = channel.name;
    const notice = readNotice(message.payload, this.options.publicUrl);
    if (notice === null) {
      sent.labels(destination, 'given_up').inc();
      this.logger.error({ destination, message: message.id, subject: message.subject }, 'no event of ours, not sent');
      return;
    }
    const result = await attempt(channel, notice);
    if (result.kind === 'delivered' || result.kind === 'outdated') {
      sent.labels(destination, result.kind).inc();
      return;
    }
    const about = { destination, id: notice.id, event: eventName(notice), why: result.why, tries: message.deliveries };
    const pauseMs = result.kind === 'refused' ? null : this.pause(message, result.retryAfterMs);
    if (pauseMs === null) {
      sent.labels(destination, 'given_up').inc();
      this.logger.error(about, 'a notice is given up: its destination was not told');
      return;
    }
    sent.labels(destination, 'failed').inc();
    this.logger.warn({ ...about, againInMs: pauseMs }, 'a notice did not arrive, and comes again');
    message.later(pauseMs);
  }

  private pause({ deliveries, storedAt }: WorkMessage, askedMs: number | null): number | null {
    const failed = { tries: deliveries, ageMs: wallClock() - storedAt, askedMs };
    return nextPause(this.options.schedule ?? retrySchedule, failed, Math.random());
  }
}

/** The database may be away: that is no reason to tell more often than the schedule says. */
async function attempt(channel: Channel, notice: Notice): Promise<Sent> {
  try {
    return await channel.send(notice);
  } catch (error) {
    return { kind: 'failed', why: error instanceof Error ? error.name : 'error', retryAfterMs: null };
  }
}
