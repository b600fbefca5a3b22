import { randomBytes } from 'node:crypto';
import { migrate } from '@intendant/migrations';
import pg from 'pg';
import type { Installation } from './installation.js';

/** Counters of one database; they only grow. */
export interface DatabaseCounters {
  readonly transactions: number;
  readonly walBytes: number;
}

/** A database of its own for one measurement. */
export class BenchDatabase {
  private constructor(
    /** As the owner. */
    readonly ownerUrl: string,
    /** As the role of the services. */
    readonly url: string,
    private readonly name: string,
    private readonly owner: pg.Client,
  ) {}

  static async create(installation: Installation, options: { readonly migrated: boolean }): Promise<BenchDatabase> {
    const name = `bench_${randomBytes(6).toString('hex')}`;
    await atServer(installation, `CREATE DATABASE ${name}`);
    const ownerUrl = named(installation.ownerDatabaseUrl, name);
    // The role of the services keeps the password it has.
    if (options.migrated) await migrate(ownerUrl);
    const owner = new pg.Client({ connectionString: ownerUrl });
    await owner.connect();
    return new BenchDatabase(ownerUrl, named(installation.databaseUrl, name), name, owner);
  }

  async query<Row extends pg.QueryResultRow>(text: string): Promise<Row[]> {
    return (await this.owner.query<Row>(text)).rows;
  }

  /** Statistics as the planner wants them, and no checkpoint in the middle of what is measured. */
  async prepare(): Promise<void> {
    await this.owner.query('VACUUM (ANALYZE)');
    await this.owner.query('CHECKPOINT');
  }

  /** Backends report their transactions up to ten seconds late; WAL is exact at once. */
  async counters(): Promise<DatabaseCounters> {
    const [row] = await this.query<{ transactions: number; wal: number }>(`
      SELECT xact_commit::float8 AS transactions, pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 AS wal
      FROM pg_stat_database WHERE datname = current_database()`);
    return { transactions: row?.transactions ?? Number.NaN, walBytes: row?.wal ?? Number.NaN };
  }

  async drop(installation: Installation): Promise<void> {
    await this.owner.end();
    await atServer(installation, `DROP DATABASE ${this.name} WITH (FORCE)`);
  }
}

async function atServer({ ownerDatabaseUrl }: Installation, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: named(ownerDatabaseUrl, 'postgres') });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

function named(url: string, database: string): string {
  return Object.assign(new URL(url), { pathname: `/${database}` }).href;
}
