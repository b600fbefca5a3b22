import { migrations } from '@intendant/migrations';
import type { Pool } from 'pg';
import { DataSource } from 'typeorm';
import { DeadMessageRow, IntentRow, ToolContractRow } from './entities.js';
import { StoreUnusable } from './errors.js';
import { queryLimitMs, TimedPool } from './timed-pool.js';

export interface ConnectionOptions {
  /** postgres://user:password@host:port/database, as the application role. */
  readonly url: string;
  readonly poolSize?: number;
  /** Shown in pg_stat_activity. */
  readonly name: string;
}

/** The ways to the database of one process. */
export interface Connection {
  /** For the statements of `sql/`, which are prepared and find everything by index. */
  readonly pool: Pool;
  /** For lists and whatever else is asked now and then. */
  readonly dataSource: DataSource;
}

/** Limits of a session, in ms. */
const limits = { statement_timeout: 10_000, idle_in_transaction_session_timeout: 30_000 };
/** Connections for lists. */
const listConnections = 4;

/** Opens the pools and refuses a database that this code must not write to. */
export async function connect({ url, poolSize = 12, name }: ConnectionOptions): Promise<Connection> {
  if (!isPostgresUrl(url)) {
    // Neither the address nor an error about it: where it goes wrong may be the password.
    throw new StoreUnusable(
      'the address of the database is not a URL such as postgres://user:password@host:5432/intendant. Check INTENDANT_DATABASE_URL',
    );
  }
  const dataSource = new DataSource({
    type: 'postgres',
    url,
    applicationName: name,
    entities: [IntentRow, DeadMessageRow, ToolContractRow],
    poolSize: listConnections,
    // Longer than the other pool: a start, when much else may be starting, waits for this one.
    connectTimeoutMS: 10_000,
    extra: { ...limits, query_timeout: queryLimitMs, keepAlive: true },
  });
  try {
    await dataSource.initialize();
  } catch (error) {
    throw new StoreUnusable(explain(error as PgError, url), { cause: error });
  }
  try {
    await compareSchema(dataSource);
    await refuseOwner(dataSource);
  } catch (error) {
    await dataSource.destroy();
    throw error;
  }
  const pool = new TimedPool({
    connectionString: url,
    application_name: name,
    max: poolSize,
    connectionTimeoutMillis: 5_000,
    ...limits,
    keepAlive: true,
    // Planned once, not once a call, and by index also when the plan was made while the tables were empty.
    options: '-c plan_cache_mode=force_generic_plan -c enable_seqscan=off',
  });
  // An idle connection that dies is replaced at the next query.
  for (const each of [pool, poolOf(dataSource)]) each.on('error', () => undefined);
  return { pool, dataSource };
}

/** The pool below TypeORM. */
export function poolOf(dataSource: DataSource): Pool {
  return (dataSource.driver as unknown as { master: Pool }).master;
}

async function compareSchema(dataSource: DataSource): Promise<void> {
  const known = migrations.map((m) => m.name);
  const applied: { name: string }[] = await dataSource
    .query('SELECT name FROM migrations ORDER BY id')
    .catch((error: PgError) => {
      if (error.code !== '42P01')
        throw new StoreUnusable(`the schema cannot be read: ${error.message}`, { cause: error });
      return [];
    });
  const names = applied.map((m) => m.name);
  const newer = names.filter((name) => !known.includes(name));
  if (newer.length > 0) {
    throw new StoreUnusable(
      `the database is newer than this code: it has ${newer.join(', ')}. Start the version that made it, or a later one`,
    );
  }
  const missing = known.filter((name) => !names.includes(name));
  if (missing.length > 0) {
    throw new StoreUnusable(
      `the database lacks ${missing.join(', ')}. Run the migrations: node dist/migrations/main.js`,
    );
  }
}

/** The log is append-only because no service can change it; with an account that can, that is no longer true. */
async function refuseOwner(dataSource: DataSource): Promise<void> {
  const [row]: [{ may: boolean; account: string }] = await dataSource.query(
    "SELECT has_table_privilege('events', 'UPDATE, DELETE, TRUNCATE') AS may, current_user AS account",
  );
  if (!row.may) return;
  throw new StoreUnusable(
    `the account ${row.account} may change the event log. Services have to connect as the application role that the migrations make`,
  );
}

interface PgError extends Error {
  readonly code?: string;
}

function explain(error: PgError, url: string): string {
  const where = describe(url);
  switch (error.code) {
    case '28P01':
    case '28000':
      return `the database at ${where} refused the user or the password. Check INTENDANT_DATABASE_URL`;
    case '3D000':
      return `the server at ${where} has no such database. Create it, or check INTENDANT_DATABASE_URL`;
    case 'ECONNREFUSED':
    case 'ENOTFOUND':
    case 'ETIMEDOUT':
      return `no database answers at ${where} (${error.code}). Start it, or check INTENDANT_DATABASE_URL`;
    default:
      return `the database at ${where} cannot be used: ${error.message}`;
  }
}

/** Host, port and database of a URL; never the password. */
function describe(url: string): string {
  const { hostname, port, pathname } = new URL(url);
  return `${hostname}:${port || 5432}${pathname}`;
}

function isPostgresUrl(url: string): boolean {
  return URL.canParse(url) && /^postgres(ql)?:$/.test(new URL(url).protocol);
}
