import type { FetchLike } from '@modelcontextprotocol/client';
import type { Dispatcher } from 'undici';
import type { AnswerHeaders } from './exchange.js';
import { type FindExchange, type McpExchange, tokenHeader } from './mcp-exchange.js';
import type { Pools } from './pools.js';

/** For what belongs to no call (handshake, notices, the end of a session), in ms, from first to last byte. */
const sideMs = 10_000;

export interface FetchOptions {
  readonly pools: Pools;
  readonly connectMs: number;
  /** Most bytes of one answer that are read. */
  readonly maxBytes: number;
  readonly find: FindExchange;
}

/**
 * The `fetch` of the MCP client: one wire request each, no redirects, no retries. A request that belongs to an
 * exchange asks it right before the first byte, and an answer without a JSON-RPC response ends it right here, so that
 * nothing above comes to act on a status.
 */
export function mcpFetch({ pools, connectMs, maxBytes, find }: FetchOptions): FetchLike {
  return async (target, init = {}) => {
    const headers = new Headers(init.headers);
    const exchange = find(headers.get(tokenHeader));
    headers.delete(tokenHeader);
    const method = init.method ?? 'GET';
    // Servers offer a stream of news about themselves. Nobody here listens; answers that broke off are fetched.
    if (method === 'GET' && !headers.has('last-event-id')) return new Response(null, { status: 405 });
    for (const [name, value] of Object.entries(exchange?.headers ?? {})) headers.set(name, value);
    const url = new URL(target);
    const pool = pools.get(url.origin, exchange?.options.connectMs ?? connectMs);
    if (pool === null) throw new Error('shutting down');
    const inSession = headers.has('mcp-session-id');
    const handler = new FetchHandler(exchange, inSession, maxBytes, init.signal ?? null, method !== 'GET');
    pool.dispatch(
      {
        origin: url.origin,
        method: method as Dispatcher.HttpMethod,
        path: url.pathname + url.search,
        headers: [...headers].flat(),
        body: typeof init.body === 'string' ? init.body : null,
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      handler,
    );
    return handler.response;
  };
}

class FetchHandler implements Dispatcher.DispatchHandler {
  readonly response: Promise<Response>;
  #resolve: (response: Response) => void = () => {};
  #reject: (error: unknown) => void = () => {};
  #controller: Dispatcher.DispatchController | null = null;
  #stream: ReadableStreamDefaultController<Uint8Array> | null = null;
  #over = false;
  #status = 0;
  #headers: AnswerHeaders = {};
  #bytes = 0;
  /** What was read of an answer that is not handed on. */
  #kept: Buffer[] | null = null;
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #onAbort = () => this.#giveUp(this.signal?.reason);

  constructor(
    private readonly exchange: McpExchange | undefined,
    private readonly inSession: boolean,
    private readonly maxBytes: number,
    private readonly signal: AbortSignal | null,
    limited: boolean,
  ) {
    this.response = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    if (limited && exchange === undefined) {
      this.#timer = setTimeout(() => this.#giveUp(new Error(`no full answer within ${sideMs} ms`)), sideMs);
    }
    if (signal?.aborted) this.#onAbort();
    else signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** The connection stands and nothing is written yet; from here to the first byte undici does not yield. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    const again = this.#controller !== null;
    if (again || this.#over || this.exchange?.start() === false) {
      controller.abort(new Error('not to be sent'));
      return;
    }
    this.#controller = controller;
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: AnswerHeaders): void {
    // 1xx announces the answer, it is not the answer.
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
    const media = String(headers['content-type'] ?? '')
      .split(';')[0]
      ?.trim()
      .toLowerCase();
    const streaming = media === 'text/event-stream';
    if (this.exchange !== undefined) {
      this.exchange.status = status;
      this.exchange.streaming = streaming;
      if (status !== 200 || !(streaming || media === 'application/json')) {
        this.#kept = [];
        return;
      }
    }
    this.#resolve(this.#responseOf(status, headers));
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes <= this.maxBytes) {
      this.#kept?.push(chunk);
      this.#stream?.enqueue(chunk);
      return;
    }
    if (this.#kept === null) this.exchange?.useless('response_too_large', `more than ${this.maxBytes} bytes`);
    else this.#tell(this.#kept, false);
    this.#giveUp(new Error('answer too large'));
    controller.abort(new Error('answer too large'));
  }

  onResponseEnd(): void {
    if (this.#over) return;
    if (this.#kept !== null) {
      this.#tell(this.#kept, true);
      this.#finish();
      this.#reject(new Error(`HTTP ${this.#status}`));
      return;
    }
    this.#finish();
    this.#stream?.close();
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    if (this.#over) return;
    if (this.exchange !== undefined) this.exchange.broken = error;
    this.#giveUp(error);
  }

  #tell(chunks: Buffer[], whole: boolean): void {
    const answer = { status: this.#status, headers: this.#headers, body: Buffer.concat(chunks), whole };
    this.exchange?.settle({ kind: 'status', answer, inSession: this.inSession });
  }

  #responseOf(status: number, headers: AnswerHeaders): Response {
    const init = { status, headers: Object.entries(headers).flatMap(pairs) };
    if (status === 204 || status === 205 || status === 304) return new Response(null, init);
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#stream = controller;
      },
      cancel: (reason) => this.#giveUp(reason),
    });
    return new Response(body, init);
  }

  #giveUp(error: unknown): void {
    if (this.#over) return;
    this.#finish();
    this.#reject(error);
    try {
      this.#stream?.error(error);
    } catch {
      // Cancelled by its reader, who is the one to know.
    }
    this.#controller?.abort(error instanceof Error ? error : new Error('over'));
  }

  #finish(): void {
    this.#over = true;
    clearTimeout(this.#timer);
    this.signal?.removeEventListener('abort', this.#onAbort);
  }
}

function pairs([name, value]: [string, string | string[] | undefined]): [string, string][] {
  return [value ?? []].flat().map((each) => [name, each]);
}
