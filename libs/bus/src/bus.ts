import { type Consumer, type JetStreamClient, jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { Logger } from '@nestjs/common';
import { ensureTopology } from './ensure-topology.js';
import { BusUnavailable } from './errors.js';
import type { HintMessage } from './messages.js';
import { publishAll } from './publish.js';
import { type Outgoing, Publisher, type PublishResult } from './publisher.js';
import { type Reply, type RequestOptions, sendRequest } from './request.js';
import { type DurableSpec, topology } from './topology.js';

export type BusStatus = 'connected' | 'reconnecting' | 'closed';

const answerLimitMs = 2_000;

/** One connection to NATS: durable publishing, requests, hints. Made by `connectBus`. */
export class Bus {
  private readonly logger = new Logger(Bus.name);
  private readonly jetStream: JetStreamClient;
  private readonly publisher: Publisher;
  private readonly watchers = new Set<(status: BusStatus) => void>();
  private readonly consumers = new Set<() => Promise<void>>();
  private current: BusStatus = 'connected';
  private closing: Promise<void> | undefined;
  private ensuring: Promise<void> | undefined;

  constructor(
    /** For the inside of this room only. */
    readonly connection: NatsConnection,
    private readonly replicas: number | undefined,
    inboxPrefix: string,
    onClosed?: (error: Error | undefined) => void,
  ) {
    this.jetStream = jetstream(connection);
    this.publisher = new Publisher(connection, inboxPrefix);
    void this.follow();
    void connection.closed().then((error) => {
      this.become('closed');
      if (!this.closing) onClosed?.(error ?? undefined);
    });
  }

  status(): BusStatus {
    return this.current;
  }

  /** Calls back on every change of status; returns how to stop that. */
  onStatus(callback: (status: BusStatus) => void): () => void {
    this.watchers.add(callback);
    return () => void this.watchers.delete(callback);
  }

  /** Round trip to the server, in ms. @throws BusUnavailable when it does not answer within two seconds. */
  async rtt(): Promise<number> {
    this.requireConnection();
    return within(this.connection.rtt(), answerLimitMs);
  }

  /** Resolves when the server has everything that was sent. @throws BusUnavailable as `rtt`. */
  async flush(): Promise<void> {
    this.requireConnection();
    await within(this.connection.flush(), answerLimitMs);
  }

  /**
   * Publishes to JetStream, all messages at once, and tells which of them the server acknowledged. A failed one may
   * be stored all the same: send it again with the same `msgId`. Never throws.
   */
  publish(messages: readonly Outgoing[]): Promise<PublishResult> {
    return publishAll(
      messages,
      this.publisher,
      () => this.status() === 'connected',
      () => this.ensureTopology(),
    );
  }

  /** Fire and forget over core NATS; lost when nobody listens or the server is away. Never throws. */
  hint(subject: string, payload: string | Uint8Array): void {
    if (this.current !== 'connected') return;
    try {
      this.connection.publish(subject, payload);
    } catch (error) {
      this.logger.debug(`hint on ${subject} not sent: ${String(error)}`);
    }
  }

  /** Hears hints; with `queue`, one member of that group gets each. Returns how to stop that. */
  onHint(
    subject: string,
    callback: (hint: HintMessage) => void | Promise<void>,
    options: { readonly queue?: string } = {},
  ): () => void {
    const subscription = this.connection.subscribe(subject, {
      ...(options.queue === undefined ? {} : { queue: options.queue }),
      callback: (error, message) => {
        if (error) return void this.logger.error(`hints on ${subject} ended: ${error.message}`);
        this.runHint(callback, { subject: message.subject, payload: message.data });
      },
    });
    return () => subscription.unsubscribe();
  }

  /**
   * Asks over core NATS and waits for one reply.
   *
   * @throws NoResponder when nobody is subscribed; nothing was handled.
   * @throws RequestTimeout when no reply came; it may have been handled.
   * @throws BusUnavailable when the server is away.
   */
  async request(subject: string, payload: string | Uint8Array, options: RequestOptions): Promise<Reply> {
    this.requireConnection();
    return sendRequest(this.connection, subject, payload, options);
  }

  /** Makes sure of streams and durables again; calls at the same time share one run. */
  ensureTopology(): Promise<void> {
    this.ensuring ??= ensureTopology(this.connection, topology, this.replicas).finally(() => {
      this.ensuring = undefined;
    });
    return this.ensuring;
  }

  /** A handle on a durable consumer, created when it is missing. @throws TopologyMismatch */
  async durable(spec: DurableSpec): Promise<Consumer> {
    await ensureTopology(this.connection, { ...topology, durables: [spec] }, this.replicas);
    return this.jetStream.consumers.get(spec.stream, spec.durable);
  }

  /** Messages of a durable consumer that were never delivered. */
  async backlog(spec: DurableSpec): Promise<number> {
    const manager = await jetstreamManager(this.connection, { checkAPI: false });
    return (await manager.consumers.info(spec.stream, spec.durable)).num_pending;
  }

  /** Registers what has to stop before the connection is drained. */
  onQuiesce(stop: () => Promise<void>): void {
    this.consumers.add(stop);
  }

  /** Stops everything that takes messages in, and waits for what runs; publishing goes on. */
  async quiesce(): Promise<void> {
    await Promise.all([...this.consumers].map((stop) => stop()));
  }

  /** Stops taking messages in, sends what is waiting, and closes. Safe to call twice. */
  close(): Promise<void> {
    this.closing ??= this.shutDown();
    return this.closing;
  }

  private async shutDown(): Promise<void> {
    await this.quiesce();
    // Without a server there is nobody to drain to, and drain() would wait for one.
    if (this.current === 'connected') await within(this.connection.drain(), answerLimitMs).catch(() => undefined);
    if (!this.connection.isClosed()) await this.connection.close();
  }

  private runHint(callback: (hint: HintMessage) => void | Promise<void>, hint: HintMessage): void {
    const failed = (error: unknown) => this.logger.error(`handler of hint ${hint.subject} failed: ${String(error)}`);
    try {
      const result = callback(hint);
      if (result instanceof Promise) result.catch(failed);
    } catch (error) {
      failed(error);
    }
  }

  private requireConnection(): void {
    if (this.current === 'connected') return;
    throw new BusUnavailable(
      this.current === 'closed' ? 'the connection to NATS is closed' : 'NATS is away; the client keeps reconnecting',
    );
  }

  private async follow(): Promise<void> {
    for await (const status of this.connection.status()) {
      if (status.type === 'disconnect') this.become('reconnecting');
      if (status.type === 'reconnect') this.become('connected');
    }
  }

  private become(status: BusStatus): void {
    if (this.current === status || this.current === 'closed') return;
    this.current = status;
    if (status === 'connected') this.logger.log('connected to NATS again');
    else if (!this.closing) this.logger.warn(`connection to NATS: ${status}`);
    for (const watcher of this.watchers) watcher(status);
  }
}

async function within<T>(work: Promise<T>, limitMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new BusUnavailable(`NATS did not answer within ${limitMs} ms`)), limitMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
