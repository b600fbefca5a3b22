import type { JsonObject } from '@intendant/intent';
import type { RequestId, TransportSendOptions } from '@modelcontextprotocol/client';
import type { Answer, ExchangeOptions, ExchangeResult, FailureKind } from './exchange.js';
import { refusalToStart, tellSent } from './starting.js';

/** Parameters of a `tools/call`. */
export interface ToolCall {
  readonly name: string;
  readonly arguments: JsonObject;
  readonly _meta?: JsonObject;
}

/** What became of one request to a tool of an MCP server. */
export type McpResult =
  /** The `result` of the JSON-RPC response, as it came. */
  | { readonly kind: 'result'; readonly result: unknown }
  /** The `error` of the JSON-RPC response, as it came. */
  | { readonly kind: 'error'; readonly code: number; readonly message: string; readonly data: unknown }
  /** HTTP answered with something that holds no JSON-RPC response. `inSession`: the request named a session. */
  | { readonly kind: 'status'; readonly answer: Answer; readonly inSession: boolean }
  /** It was sent, and what came back says nothing. */
  | { readonly kind: 'useless'; readonly cause: string; readonly detail: string }
  | { readonly kind: 'no_session'; readonly error: NoSession }
  | Exclude<ExchangeResult, { kind: 'answer' }>;

/** There is no session with the server, and so nothing was sent to any of its tools. */
export class NoSession extends Error {
  override readonly name = 'NoSession';

  constructor(
    readonly reason: string,
    /** It may work later. */
    readonly transient: boolean,
    detail: string,
    /** The server may speak a revision of the protocol that begins in another way. */
    readonly otherRevision = false,
  ) {
    super(detail);
  }
}

/** After its answer a stream may stay open this long, in ms: a connection that ends by itself can be used again. */
const lingerMs = 1_000;

/** Carries the token of an exchange from the protocol to the transport; never reaches the wire. */
export const tokenHeader = 'intendant-exchange';

/** An open exchange by its token. */
export type FindExchange = (token: string | null) => McpExchange | undefined;

/**
 * The exchange that a `tools/call` is sent for.
 *
 * @throws when there is none: the client sends of its own accord, for a second time
 */
export function exchangeOf(find: FindExchange, options: TransportSendOptions | undefined): McpExchange {
  const exchange = find(options?.headers?.[tokenHeader] ?? null);
  if (exchange === undefined) throw new Error('not to be sent again');
  return exchange;
}

let exchanges = 0;

/**
 * One request to a tool, from the moment somebody wants it. The protocol, the transport and the connection each tell
 * it what they see; the first thing that ends it is its result, and nothing is sent for it twice.
 */
export class McpExchange {
  /** Stands for it in the headers that the protocol hands to the transport; it never reaches the wire. */
  readonly token = String(++exchanges);
  readonly result: Promise<McpResult>;
  /** Aborted when the server shall be told that nobody waits any more. */
  readonly cancelled = new AbortController();
  /** Aborted when its connection is of no more use. */
  readonly over = new AbortController();
  /** Of the JSON-RPC request, once there is one. */
  rpcId: RequestId | null = null;
  /** Its answer is a stream of events, which may break off and be resumed. */
  streaming = false;
  /** Status of the answer that has begun to arrive. */
  status: number | null = null;
  /** Why its connection broke. */
  broken: unknown = null;
  /**
   * Makes sure that nothing of it leaves any more, for a transport that may still hold some of it; null: it holds
   * nothing. Nobody may be told what became of the request while the rest of it can still arrive.
   */
  recall: () => Promise<void> | null = () => null;
  #recalling = false;
  #sent = false;
  #done = false;
  #resolve: (result: McpResult) => void = () => {};
  #timer: NodeJS.Timeout | undefined;
  readonly #onAbort = () => this.#giveUp('aborted', this.options.signal?.reason);

  constructor(
    readonly options: ExchangeOptions,
    /** Go out with the request, over HTTP. */
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    this.result = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    const { signal, connectMs, callMs } = options;
    if (signal?.aborted) {
      this.#onAbort();
      return;
    }
    signal?.addEventListener('abort', this.#onAbort, { once: true });
    this.#timer = setTimeout(() => this.#connectLimit(), Math.min(connectMs, callMs));
  }

  get done(): boolean {
    return this.#done;
  }

  /** To be called with nothing between it and the first byte; `false` means that no byte may leave. */
  start(): boolean {
    if (this.#done || this.#sent) return false;
    const refusal = refusalToStart(this.options, 'the first byte');
    if (refusal !== null) {
      this.settle({ kind: 'refused', detail: refusal });
      return false;
    }
    this.#sent = true;
    if (this.options.onSend) process.nextTick(() => tellSent(this.options));
    return true;
  }

  /** The transport has nothing more to say: whatever answer there was has been told. */
  ended(): void {
    if (this.broken !== null) this.failed(this.broken);
    else if (this.#sent) this.useless('no_answer', 'it ended without an answer');
    else this.failed(new Error('it was not sent'));
  }

  failed(error: unknown): void {
    this.#giveUp('failed', this.broken ?? error);
  }

  /** Something came that cannot be understood. */
  useless(cause: string, detail: string): void {
    if (this.#recalling) return;
    if (this.#sent) this.settle({ kind: 'useless', cause, detail });
    else this.failed(new Error(detail));
  }

  settle(result: McpResult): void {
    if (this.#done) return;
    this.#done = true;
    clearTimeout(this.#timer);
    this.options.signal?.removeEventListener('abort', this.#onAbort);
    this.#resolve(result);
    setTimeout(() => this.over.abort(), lingerMs).unref();
  }

  #giveUp(kind: FailureKind, error: unknown): void {
    if (this.#done || this.#recalling) return;
    const result = { kind, sent: this.#sent, status: this.status, error };
    const recalled = this.#sent && kind !== 'failed' ? this.recall() : null;
    if (recalled !== null) {
      this.#recalling = true;
      void recalled.then(() => this.settle(result));
      return;
    }
    this.settle(result);
    // The server hears of it first, over a connection of its own.
    if (this.#sent && kind !== 'failed') this.cancelled.abort(new Error(kind));
    this.over.abort();
  }

  #connectLimit(): void {
    const { connectMs, callMs } = this.options;
    if (!this.#sent && connectMs < callMs) {
      this.#giveUp('connect_timeout', new Error(`no connection within ${connectMs} ms`));
      return;
    }
    this.#timer = setTimeout(
      () => this.#giveUp('timeout', new Error(`no full answer within ${callMs} ms`)),
      Math.max(callMs - connectMs, 0),
    );
  }
}
