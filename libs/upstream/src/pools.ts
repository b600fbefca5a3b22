import { buildConnector, Pool } from 'undici';
import { Egress, EgressRefused } from './egress.js';
import { H2Connections } from './h2-connections.js';

/** What sends requests to one server. */
export type Sender = Pick<Pool, 'dispatch'> & { close(): Promise<void> };

/**
 * Connections to every upstream, kept alive, by origin, protocol and connect limit (which undici has per pool). None
 * is made to where the egress rules forbid it: a request that would need one fails with `EgressRefused` before its
 * first byte.
 */
export class Pools {
  readonly #pools = new Map<string, Sender>();
  #closing: Promise<unknown> | null = null;

  constructor(private readonly egress = Egress.unlimited) {}

  /** `http2`: offer it when the connection is made. Null after {@link close}. */
  get(origin: string, connectMs: number, http2 = false): Sender | null {
    if (this.#closing !== null) return null;
    const id = `${origin} ${connectMs} ${http2}`;
    const known = this.#pools.get(id);
    if (known !== undefined) return known;
    const options = {
      // One request at a time per connection: with more, a reset would take unsent neighbours along and re-send them.
      pipelining: 1,
      allowH2: http2,
      connect: guarded(this.egress, connectMs, http2),
      // One limit per call covers both, see exchange.ts.
      headersTimeout: 0,
      bodyTimeout: 0,
    };
    // Unlimited: the tools' concurrency is the limit, and a request must not wait in a queue under its lease.
    const pool = http2 ? new H2Connections(origin, options) : new Pool(origin, { ...options, connections: null });
    this.#pools.set(id, pool);
    return pool;
  }

  async close(): Promise<void> {
    this.#closing ??= Promise.all([...this.#pools.values()].map((pool) => pool.close()));
    await this.#closing;
  }
}

function guarded(egress: Egress, connectMs: number, http2: boolean): buildConnector.connector {
  const connect = buildConnector({ timeout: connectMs, allowH2: http2, lookup: egress.lookup });
  return (options, callback) => {
    const port = Number(options.port) || (options.protocol === 'https:' ? 443 : 80);
    const why = egress.refusal(options.hostname, port);
    if (why === null) connect(options, callback);
    // Not at once: undici is still busy with handing over the request that is to fail.
    else setImmediate(() => callback(new EgressRefused(why), null));
  };
}
