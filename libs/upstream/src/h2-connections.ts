import { Client, type Dispatcher } from 'undici';

/** More idle connections than this to one server only wait for a burst like the last one. */
const mostIdle = 16;

/**
 * HTTP/2 connections to one server: one request at a time each, and none after a request that did not end in order.
 * undici's own pool goes on using a connection that a broken frame has made deaf, and one whose session is gone blocks
 * it for ever.
 */
export class H2Connections {
  readonly #all = new Set<Client>();
  readonly #idle: Client[] = [];

  constructor(
    private readonly origin: string,
    private readonly options: Client.Options,
  ) {}

  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const client = this.#idle.pop() ?? this.#connection();
    return client.dispatch(options, new Returning(handler, (inOrder) => this.#takeBack(client, inOrder)));
  }

  /** Waits for the requests that are under way. */
  async close(): Promise<void> {
    await Promise.all([...this.#all].map((client) => client.close()));
  }

  #connection(): Client {
    const client = new Client(this.origin, this.options);
    this.#all.add(client);
    return client;
  }

  #takeBack(client: Client, inOrder: boolean): void {
    if (inOrder && this.#idle.length < mostIdle) {
      this.#idle.push(client);
      return;
    }
    this.#all.delete(client);
    // Not here: undici is in the middle of telling its request.
    setImmediate(() => client.destroy().catch(() => {}));
  }
}

/** Hands everything on and tells once when the request is over. */
class Returning implements Dispatcher.DispatchHandler {
  constructor(
    private readonly handler: Dispatcher.DispatchHandler,
    private over: ((inOrder: boolean) => void) | null,
  ) {}

  onRequestStart(controller: Dispatcher.DispatchController, context: unknown): void {
    this.handler.onRequestStart?.(controller, context);
  }

  onResponseStart(...args: Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>): void {
    this.handler.onResponseStart?.(...args);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.handler.onResponseData?.(controller, chunk);
  }

  onResponseEnd(...args: Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseEnd']>>): void {
    this.#end(true);
    this.handler.onResponseEnd?.(...args);
  }

  onResponseError(controller: Dispatcher.DispatchController, error: Error): void {
    this.#end(false);
    this.handler.onResponseError?.(controller, error);
  }

  #end(inOrder: boolean): void {
    this.over?.(inOrder);
    this.over = null;
  }
}
