import type { Dispatcher } from 'undici';
import type { CallOptions } from './adapter.js';
import type { WireRequest } from './http-request.js';
import { refusalToStart, tellSent } from './starting.js';

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
  sender: Pick<Dispatcher, 'dispatch'>,
  request: WireRequest,
  options: ExchangeOptions,
): Promise<ExchangeResult> {
  return new Promise((resolve) => new Exchange(request, options, resolve).run(sender));
}

class Exchange implements Dispatcher.DispatchHandler {
  #controller: Dispatcher.DispatchController | null = null;
  #sent = false;
  #done = false;
  #status: number | null = null;
  #headers: AnswerHeaders = {};
  #chunks: Buffer[] = [];
  #bytes = 0;
  /** The connect limit first, then what is left of the call limit. */
  #timer: NodeJS.Timeout | undefined;
  readonly #onAbort = () => this.#giveUp('aborted', this.options.signal?.reason);

  constructor(
    private readonly request: WireRequest,
    private readonly options: ExchangeOptions,
    private readonly resolve: (result: ExchangeResult) => void,
  ) {}

  run(sender: Pick<Dispatcher, 'dispatch'>): void {
    const { origin, method, path, headers, body } = this.request;
    const { signal, connectMs, callMs } = this.options;
    if (signal?.aborted) {
      this.#onAbort();
      return;
    }
    signal?.addEventListener('abort', this.#onAbort, { once: true });
    this.#limit(Math.min(connectMs, callMs), () => this.#connectLimit());
    try {
      sender.dispatch({ origin, method, path, headers, body, headersTimeout: 0, bodyTimeout: 0 }, this);
    } catch (error) {
      this.#giveUp('failed', error);
    }
  }

  /** The connection stands and nothing is written yet; from here to the first byte undici does not yield. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Over already (limit, abort) while it waited for a connection, or about to be sent a second time.
    const over = this.#done || this.#sent;
    const refusal = over ? 'over already' : refusalToStart(this.options, 'the first byte');
    if (refusal !== null) {
      if (!over) this.#settle({ kind: 'refused', detail: refusal });
      controller.abort(new Error('not to be sent'));
      return;
    }
    this.#controller = controller;
    this.#sent = true;
    // undici hands over the header bytes before it returns from this turn.
    if (this.options.onSend) process.nextTick(() => tellSent(this.options));
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: AnswerHeaders): void {
    // 1xx announces the answer, it is not the answer.
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const room = this.options.maxBytes - this.#bytes;
    this.#bytes += chunk.length;
    if (chunk.length <= room) {
      this.#chunks.push(chunk);
      return;
    }
    this.#chunks.push(chunk.subarray(0, room));
    this.#answer(false);
    controller.abort(new Error('answer too large'));
  }

  onResponseEnd(): void {
    this.#answer(true);
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#giveUp('failed', error);
  }

  #limit(ms: number, over: () => void): void {
    this.#timer = setTimeout(over, ms);
  }

  /** undici has a connect limit too, but checks it about once a second. */
  #connectLimit(): void {
    const { connectMs, callMs } = this.options;
    if (!this.#sent && connectMs < callMs) {
      this.#giveUp('connect_timeout', new Error(`no connection within ${connectMs} ms`));
    } else {
      this.#limit(Math.max(callMs - connectMs, 0), () =>
        this.#giveUp('timeout', new Error(`no full answer within ${callMs} ms`)),
      );
    }
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
    clearTimeout(this.#timer);
    this.options.signal?.removeEventListener('abort', this.#onAbort);
    this.resolve(result);
  }
}
