import { type CustomTransportStrategy, type MessageHandler, Server } from '@nestjs/microservices';
import { isObservable, lastValueFrom } from 'rxjs';
import type { Bus } from './bus.js';
import { type Endpoint, natsTransport } from './decorators.js';
import type { HintMessage, RpcRequest, WorkMessage } from './messages.js';
import { RequestServer } from './request-server.js';
import { serveWork } from './serve-work.js';
import type { WatchdogOptions } from './watchdog.js';

export interface NatsStrategyOptions {
  readonly bus: Bus;
  /** Name of the service; its replicas share the hints of `@OnHint(…, { queue: true })`. */
  readonly service: string;
  /** How long a consumer may have messages and deliver none before its loop is rebuilt. */
  readonly watchdogMs?: number;
  /** Rebuilding did not help. Without it the process gets SIGTERM: it stops cleanly and is started again. */
  readonly onStuck?: (reason: string) => void;
  /** Requests handled at once per subject, where its handler does not say; more are answered `unavailable`. */
  readonly requestLimit?: number;
  /** How long `close` waits for running handlers. */
  readonly stopLimitMs?: number;
}

/**
 * Nest transport for durable work, requests and hints over one NATS connection. Nest's own NATS transport wraps every
 * packet in an envelope of its own and knows no acknowledgement.
 */
export class NatsStrategy extends Server implements CustomTransportStrategy {
  override readonly transportId = natsTransport;
  /** Handlers are awaited here, so Nest must not log their failures a second time. */
  override readonly propagatesEventHandlerErrors: boolean = true;
  private readonly endpoints: { subject: string; endpoint: Endpoint; handler: MessageHandler }[] = [];
  private readonly stops: (() => unknown)[] = [];
  private closing: Promise<void> | undefined;

  constructor(private readonly options: NatsStrategyOptions) {
    super();
    options.bus.onQuiesce(() => this.close());
  }

  /** Called by Nest for each handler. Each gets a subscription or a consumer of its own. */
  override addHandler(pattern: unknown, handler: MessageHandler, _isEvent?: boolean, extras: object = {}): void {
    if (typeof pattern !== 'string' || !isEndpoint(extras)) {
      throw new Error(`handler of ${String(pattern)}: use @OnWork, @OnRequest or @OnHint`);
    }
    this.endpoints.push({ subject: pattern, endpoint: extras, handler });
  }

  /** Called by Nest when the application is ready. */
  async listen(callback: (error?: unknown) => void): Promise<void> {
    try {
      for (const { subject, endpoint, handler } of this.endpoints) await this.open(subject, endpoint, handler);
      callback();
    } catch (error) {
      callback(error);
    }
  }

  /** Stops pulling, finishes what runs, sends the acknowledgements. The connection is left to its owner. */
  close(): Promise<void> {
    this.closing ??= this.stop();
    return this.closing;
  }

  on(): never {
    throw new Error('no events here: Bus.onStatus tells about the connection');
  }

  unwrap<T>(): T {
    return this.options.bus.connection as T;
  }

  private async open(subject: string, endpoint: Endpoint, handler: MessageHandler): Promise<void> {
    const { bus, service } = this.options;
    switch (endpoint.kind) {
      case 'work': {
        const { kind: _, concurrency, ...durable } = endpoint;
        const spec = { ...durable, subject };
        const handle = (message: WorkMessage) => call(handler, message);
        this.stops.push(await serveWork(bus, { spec, concurrency, handle }, this.watchdog()));
        return;
      }
      case 'request': {
        const limit = endpoint.limit ?? this.options.requestLimit ?? 1_000;
        const server = new RequestServer(bus, subject, limit, (request) => call(handler, request));
        server.start();
        this.stops.push(() => server.stop());
        return;
      }
      case 'hint': {
        const queue = endpoint.queue ? { queue: service } : {};
        this.stops.push(bus.onHint(subject, async (hint) => void (await call(handler, hint)), queue));
      }
    }
  }

  private watchdog(): Partial<WatchdogOptions> {
    const { watchdogMs, onStuck } = this.options;
    return { ...(watchdogMs !== undefined && { everyMs: watchdogMs }), ...(onStuck && { onStuck }) };
  }

  private async stop(): Promise<void> {
    const stopped = Promise.all(this.stops.map((stop) => stop()));
    if (!(await inTime(stopped, this.options.stopLimitMs ?? 20_000))) {
      this.logger.error('handlers still run after the stop limit; their messages will be delivered again');
    }
    if (this.options.bus.status() === 'connected') await this.options.bus.flush().catch(() => undefined);
  }
}

/** Nest hands on errors as an Observable, see {@link PassThroughFilter}. */
async function call(handler: MessageHandler, message: WorkMessage | RpcRequest | HintMessage): Promise<unknown> {
  const result: unknown = await handler(message);
  return isObservable(result) ? lastValueFrom(result, { defaultValue: undefined }) : result;
}

function isEndpoint(extras: object): extras is Endpoint {
  return 'kind' in extras && ['work', 'request', 'hint'].includes(String(extras.kind));
}

async function inTime(work: Promise<unknown>, limitMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), limitMs);
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
