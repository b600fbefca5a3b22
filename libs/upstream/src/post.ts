import { type Egress, EgressRefused } from './egress.js';
import { exchange } from './exchange.js';
import { Pools } from './pools.js';
import { retryAfterMs } from './retry-after.js';
import { sentCause, unsentRule } from './transport-errors.js';

export interface Letter {
  readonly url: URL;
  /** By name; the content type is JSON. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Most of the answer's body that is read, in bytes. */
  readonly answerBytes: number;
}

export type Reply =
  | {
      readonly kind: 'answer';
      readonly status: number;
      /** What the server asks for by `Retry-After`, in ms; null when it does not. */
      readonly retryAfterMs: number | null;
      /** As far as it was read. */
      readonly body: string;
    }
  /** Nobody knows whether it arrived. `why` is safe to log: it holds neither address nor content. */
  | { readonly kind: 'failed'; readonly why: string };

const limits = { connectMs: 5_000, callMs: 10_000 } as const;

/**
 * Sends JSON to addresses that the settings name, under the rules for every way out. No redirect is followed: what it
 * names was not checked by whoever wrote the setting.
 */
export class Postman {
  readonly #pools: Pools;

  constructor(egress: Egress) {
    this.#pools = new Pools(egress);
  }

  /** Sends it once. Never rejects. */
  async post({ url, headers, body, answerBytes }: Letter): Promise<Reply> {
    const sender = this.#pools.get(url.origin, limits.connectMs);
    if (sender === null) return { kind: 'failed', why: 'this process is stopping' };
    const request = {
      origin: url.origin,
      method: 'POST' as const,
      path: `${url.pathname}${url.search}`,
      headers: ['Content-Type', 'application/json', ...Object.entries(headers).flat()],
      body,
      attemptId: null,
    };
    const result = await exchange(sender, request, { ...limits, maxBytes: answerBytes, mayStart: () => true });
    if (result.kind === 'answer') {
      const { status, headers: answered, body: read } = result.answer;
      return { kind: 'answer', status, retryAfterMs: retryAfterMs(answered), body: read.toString('utf8') };
    }
    return { kind: 'failed', why: reasonOf(result) };
  }

  /** Waits for what is on its way; later letters fail. */
  close(): Promise<void> {
    return this.#pools.close();
  }
}

function reasonOf(result: Exclude<Awaited<ReturnType<typeof exchange>>, { kind: 'answer' }>): string {
  switch (result.kind) {
    case 'refused':
      return result.detail;
    case 'failed':
      if (result.error instanceof EgressRefused) return result.error.message;
      return result.sent ? sentCause(result.error, result.status) : unsentRule(result.error).cause;
    default:
      return result.kind;
  }
}
