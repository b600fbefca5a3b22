import { performance } from 'node:perf_hooks';
import pg from 'pg';

/** Ahead of the real time, since column defaults keep the real clock: nothing may be younger than now. In ms. */
const aheadMs = 3_600_000;

/**
 * Time that stands still until it is told to pass, for this process (or thread) and for one database alike, so that a
 * slow machine changes nothing and an hour costs nothing. Randomness is seeded as well: what is decided depends on the
 * schedule alone.
 *
 * The database gets functions that come before those of PostgreSQL in its search path; sessions have to be opened
 * afterwards.
 */
export class VirtualTime {
  private told = 0;

  private constructor(
    private readonly client: pg.Client,
    private at: number,
    private readonly real: Pick<DateConstructor, 'now'> & Pick<Math, 'random'>,
  ) {}

  /** `ownerUrl`: of the database, as its owner. Until `giveBack` the clocks of this process are not the real ones. */
  static async take(ownerUrl: string): Promise<VirtualTime> {
    const client = new pg.Client({ connectionString: ownerUrl });
    await client.connect();
    const at = Date.now() + aheadMs;
    await client.query(`
      CREATE SCHEMA stage;
      CREATE UNLOGGED TABLE stage.clock (ms float8 NOT NULL);
      INSERT INTO stage.clock VALUES (${at});
      CREATE FUNCTION stage.clock_timestamp() RETURNS timestamptz STABLE LANGUAGE sql
        AS $$ SELECT timestamptz 'epoch' + ms * interval '1 ms' FROM stage.clock $$;
      CREATE FUNCTION stage.statement_timestamp() RETURNS timestamptz STABLE LANGUAGE sql
        AS $$ SELECT timestamptz 'epoch' + ms * interval '1 ms' FROM stage.clock $$;
      GRANT USAGE ON SCHEMA stage TO PUBLIC;
      GRANT SELECT ON stage.clock TO PUBLIC;
      DO $$ BEGIN
        EXECUTE format('ALTER DATABASE %I SET search_path = stage, pg_catalog, public', current_database());
        -- Nothing crashes here, so nobody has to wait for the disk.
        EXECUTE format('ALTER DATABASE %I SET synchronous_commit = off', current_database());
      END $$;
      SET synchronous_commit = off`);
    const time = new VirtualTime(client, at, { now: Date.now, random: Math.random });
    Date.now = () => time.at;
    performance.now = () => time.at - at + 1_000;
    time.reseed(1);
    return time;
  }

  /** In whole ms since the epoch. */
  get now(): number {
    return this.at;
  }

  advance(ms: number): void {
    this.at += ms;
  }

  /** Tells the database, which has to know before it is asked anything. */
  async tell(): Promise<void> {
    if (this.told === this.at) return;
    this.told = this.at;
    await this.client.query('UPDATE stage.clock SET ms = $1', [this.at]);
  }

  /** Starts the random numbers anew (mulberry32). */
  reseed(seed: number): void {
    let state = seed;
    Math.random = () => {
      state = (state + 0x6d2b79f5) | 0;
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
    };
  }

  async giveBack(): Promise<void> {
    Date.now = this.real.now;
    Math.random = this.real.random;
    // It covered the one that all Performance objects have.
    Reflect.deleteProperty(performance, 'now');
    await this.client.end();
  }
}
