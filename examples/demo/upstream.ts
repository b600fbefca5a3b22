import { call } from '../agents/http/call.js';

/** What the upstream is told to do wrong, once, with the next request that has the text in its body. */
export interface Order {
  readonly path: string;
  readonly bodyContains: string;
  readonly behaviour: { readonly commit?: boolean; readonly then: string };
}

/** The part of a ledger line that is compared with the event log. */
export interface LedgerLine {
  readonly kind: 'request' | 'effect' | 'lookup';
  readonly key: string | null;
  readonly attemptId?: string | null;
  readonly externalId?: string;
  /** What the upstream answers about an effect; a lookup has a word here. */
  readonly answer?: unknown;
}

/** The other side of the demo upstream: for whoever stages the story, never for a tool. */
export class UpstreamControl {
  constructor(private readonly url: string) {}

  async misbehave({ path, bodyContains, behaviour }: Order): Promise<void> {
    const answer = await call<unknown>(`${this.url}/__control`, {
      method: 'POST',
      body: { match: { path, bodyContains }, behaviour },
    });
    if (answer.status !== 200) throw new Error(`The demo upstream refused: ${JSON.stringify(answer.body)}`);
  }

  /** What really happened, oldest first. */
  async ledger(): Promise<LedgerLine[]> {
    return (await call<{ data: LedgerLine[] }>(`${this.url}/__ledger`)).body.data;
  }

  /** Returns as soon as an effect of that key is in the ledger. Throws after `timeoutMs`. */
  async effectOf(key: string, timeoutMs: number): Promise<LedgerLine> {
    const query = new URLSearchParams({ kind: 'effect', key, timeout: String(timeoutMs) });
    const { status, body } = await call<{ data?: LedgerLine[] }>(`${this.url}/__wait?${query}`, {
      waitSeconds: timeoutMs / 1_000,
    });
    const effect = body.data?.[0];
    if (status === 200 && effect) return effect;
    throw new Error(`The ledger of the demo upstream shows no effect after ${timeoutMs / 1_000} s`);
  }
}
