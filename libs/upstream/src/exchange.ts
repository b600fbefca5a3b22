import type { Dispatcher } from 'undici';
import type { CallOptions } from './adapter.js';
import type { WireRequest } from './http-request.js';
import { watchSend } from './send-watch.js';

export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** A complete answer, or one longer than we read. */
export interface Answer {
  readonly status: number;
  readonly headers: AnswerHeaders;
  readonly body: Buffer;
  /** False when the body was cut off at the limit. */
  readonly whole: boolean;
}

/** `connect_timeout` comes before the first byte only; the others before or after. */
export type FailureKind = 'connect_timeout' | 'timeout' | 'aborted' | 'failed';

/** `sent`: header bytes may have left. `status`: of the answer that had begun to arrive. */
export type ExchangeResult =
  | { readonly kind: 'answer'; readonly answer: Answer }
  | { readonly kind: 'refused'; readonly detail: string }
  | {
      readonly kind: FailureKind;
      readonly sent: boolean;
      readonly status: number | null;
      readonly error: unknown;
    };

export interface ExchangeOptions extends CallOptions {
  /** From now to the first byte of the request, in ms; covers a new connection with its name look-up and TLS. */
  readonly connectMs: number;
  /** From now to the last byte of the answer, in ms. */
  readonly callMs: number;
  readonly maxBytes: number;
}

/** Sends one request once, and says all that can be known about it. Never rejects. */
export function exchange(
  dispatcher: Dispatcher,
  request: WireRequest,
  options: ExchangeOptions,
): Promise<ExchangeResult> {
  return new Promise((resolve) => new Exchange(request, options, resolve).run(dispatcher));
}

class Exchange implements Dispatcher.DispatchHandler {
  #controller: Dispatcher.DispatchController | null = null;
  #sent = false;
  #done = false;
  #status: number | null = null;
  #headers: AnswerHeaders = {};
  #chunks: Buffer[] = [];
  #bytes = 0;
  #callTimer: NodeJS.Timeout | undefined;
  #connectTimer: NodeJS.Timeout | undefined;
  #unwatch: () => void = () => {};
  readonly #onAbort = () => this.#giveUp('aborted', this.options.signal?.reason);

  constructor(
    private readonly request: WireRequest,
    private readonly options: ExchangeOptions,
    private readonly resolve: (result: ExchangeResult) => void,
  ) {}

  run(dispatcher: Dispatcher): void {
    const { origin, method, path, headers, body, attemptId } = this.request;
    const { signal, connectMs, callMs } = this.options;
    if (signal?.aborted) {
      this.#onAbort();
      return;
    }
    signal?.addEventListener('abort', this.#onAbort, { once: true });
    // undici has a connect limit too, but checks it about once a second.
    this.#connectTimer = this.#limit('connect_timeout', connectMs, 'no connection');
    this.#callTimer = this.#limit('timeout', callMs, 'no full answer');
    if (attemptId !== null) this.#unwatch = watchSend(attemptId, () => this.#onSend());
    try {
      dispatcher.dispatch({ origin, method, path, headers, body, headersTimeout: 0, bodyTimeout: 0 }, this);
    } catch (error) {
      this.#giveUp('failed', error);
    }
  }

  /** The connection stands and nothing is written yet; from here to the first byte undici does not yield. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Over already (limit, abort) while it waited for a connection, or about to be sent a second time.
    const over = this.#done || this.#sent;
    const refusal = over ? 'over already' : this.#refusal();
    if (refusal !== null) {
      if (!over) this.#settle({ kind: 'refused', detail: refusal });
      controller.abort(new Error('not to be sent'));
      return;
    }
    clearTimeout(this.#connectTimer);
    this.#controller = controller;
    // The watch says the same a moment later. Set here as well: should the channel ever fall silent, every lost answer
    // would look like "nothing was sent".
    this.#sent = true;
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: AnswerHeaders): void {
    // 1xx announces the answer, it is not the answer.
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes <= this.options.maxBytes) {
      this.#chunks.push(chunk);
      return;
    }
    this.#answer(false);
    controller.abort(new Error('answer too large'));
  }

  onResponseEnd(): void {
    this.#answer(true);
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#giveUp('failed', error);
  }

  #onSend(): void {
    this.#sent = true;
    try {
      this.options.onSend?.();
    } catch {
      // Only a notice: the bytes are leaving, and an exception here would end the process inside the channel.
    }
  }

  #refusal(): string | null {
    try {
      return this.options.mayStart() ? null : 'the lease was over before the first byte';
    } catch (error) {
      return `the lease could not be checked: ${String(error)}`;
    }
  }

  #limit(kind: FailureKind, ms: number, what: string): NodeJS.Timeout {
    return setTimeout(() => this.#giveUp(kind, new Error(`${what} within ${ms} ms`)), ms);
  }

  #answer(whole: boolean): void {
    const status = this.#status ?? 0;
    this.#settle({
      kind: 'answer',
      answer: { status, headers: this.#headers, body: Buffer.concat(this.#chunks), whole },
    });
  }

  #giveUp(kind: FailureKind, error: unknown): void {
    if (this.#done) return;
    this.#settle({ kind, sent: this.#sent, status: this.#status, error });
    if (kind !== 'failed') this.#controller?.abort(new Error(kind));
  }

  #settle(result: ExchangeResult): void {
    if (this.#done) return;
    this.#done = true;
    clearTimeout(this.#connectTimer);
    clearTimeout(this.#callTimer);
    this.options.signal?.removeEventListener('abort', this.#onAbort);
    this.#unwatch();
    this.resolve(result);
  }
}
