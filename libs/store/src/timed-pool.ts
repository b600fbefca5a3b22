import pg from 'pg';

/** Longer than the server's own limit: it is over only when the connection is dead. In ms. */
export const queryLimitMs = 15_000;

/**
 * A pool whose `query` gives up on a connection that stays silent. The driver's own `query_timeout` does the same with
 * closures that hold the parameters of every query until the next full garbage collection; for the big statements of the
 * door that was a sixth of their CPU time (docs/performance.md).
 */
export class TimedPool extends pg.Pool {
  constructor(
    config: pg.PoolConfig,
    private readonly limitMs = queryLimitMs,
  ) {
    super(config);
    // A connection may die at any moment, also while nobody looks at it; without a listener that would end the process.
    // Whoever uses it hears of it by the query that fails.
    this.on('connect', (client) => client.on('error', () => undefined));
  }

  override query = ((config: pg.QueryConfig): Promise<pg.QueryResult> => this.timed(config)) as pg.Pool['query'];

  private async timed(config: pg.QueryConfig): Promise<pg.QueryResult> {
    const client = await this.connect();
    return new Promise((resolve, reject) => {
      let over = false;
      const end = (error: Error | undefined, result?: pg.QueryResult) => {
        if (over) return;
        over = true;
        clearTimeout(timer);
        // Whatever failed may have to do with the connection: the next query gets another one.
        client.release(error);
        if (result) resolve(result);
        else reject(error);
      };
      const timer = setTimeout(() => end(new Error(`no answer within ${this.limitMs} ms`)), this.limitMs);
      void client.query(config, (error, result) => (error ? end(error) : end(undefined, result)));
    });
  }
}
