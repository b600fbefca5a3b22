import { Pool } from 'undici';

/** Connections to every upstream, kept alive, by origin, protocol and connect limit (which undici has per pool). */
export class Pools {
  readonly #pools = new Map<string, Pool>();
  #closing: Promise<unknown> | null = null;

  /** Null after {@link close}. */
  get(origin: string, connectMs: number, http2 = false): Pool | null {
    if (this.#closing !== null) return null;
    const id = `${origin} ${connectMs} ${http2}`;
    const known = this.#pools.get(id);
    if (known !== undefined) return known;
    const pool = new Pool(origin, {
      // One request at a time per connection: with more, a reset would take unsent neighbours along and re-send them.
      pipelining: 1,
      allowH2: http2,
      connect: { timeout: connectMs },
      // Unlimited: the tools' concurrency is the limit, and a request must not wait in a queue under its lease.
      connections: null,
      // One limit per call covers both, see exchange.ts.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    this.#pools.set(id, pool);
    return pool;
  }

  async close(): Promise<void> {
    this.#closing ??= Promise.all([...this.#pools.values()].map((pool) => pool.close()));
    await this.#closing;
  }
}
