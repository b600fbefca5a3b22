import type { TestDatabase } from '@intendant/testing';

/** What PostgreSQL did for one kind of statement. */
export interface StatementCount {
  readonly name: string;
  readonly calls: number;
  readonly rows: number;
  /** Of the statement itself; the record of its commit (34 bytes or a little more) is not among them. */
  readonly walBytes: number;
  /** Whole pages among the WAL, as the first change after a checkpoint writes them. */
  readonly pageImages: number;
}

/** The first that fits names a statement; PostgreSQL keeps the text of prepared statements, not their names. */
const names: readonly (readonly [RegExp, string])[] = [
  [/clock_timestamp\(\) - min\(/, 'oldest_outbox or oldest_unknown'],
  [/FROM yields WHERE/, 'load_facts'],
  [/rate_buckets.*INSERT INTO events/, 'append'],
  [/INSERT INTO intents.*INSERT INTO events/, 'append_plain'],
  [/INSERT INTO events/, 'append_moves'],
  [/i\.reason IN/, 'find_unjudged'],
  [/FROM events/, 'load_streams'],
  [/DELETE FROM outbox/, 'delete_outbox'],
  [/FROM outbox/, 'claim_outbox'],
  [/FROM pauses/, 'current_pauses'],
  [/SET wake_at = /, 'claim_due or claim_unheard'],
  [/^SELECT id FROM intents WHERE state/, 'claim_expired'],
];

/** Statements that come by the clock, however many intents there are: polls, and what gathers for a while. */
const byTheClock: ReadonlySet<string> = new Set([
  'delete_outbox',
  'claim_outbox',
  'current_pauses',
  'claim_due or claim_unheard',
  'claim_expired',
  'find_unjudged',
  'oldest_outbox or oldest_unknown',
]);
/** Around the polls of the relay; where no relay runs, nothing has reason to use them. */
const ofTheRelay: ReadonlySet<string> = new Set(['BEGIN', 'COMMIT']);

function nameOf(query: string): string {
  const text = query.replaceAll(/\s+/g, ' ').trim();
  return names.find(([pattern]) => pattern.test(text))?.[1] ?? text.slice(0, 120);
}

/** Why the statements of a database cannot be counted; null when they can, from now on. */
export async function whyNotCounted(database: TestDatabase): Promise<string | null> {
  const [loaded] = await database.query<{ libraries: string }>(
    `SELECT current_setting('shared_preload_libraries') AS libraries`,
  );
  if (!loaded?.libraries.includes('pg_stat_statements')) {
    return 'the PostgreSQL of these tests has no pg_stat_statements in shared_preload_libraries';
  }
  await database.query('CREATE EXTENSION IF NOT EXISTS pg_stat_statements');
  return null;
}

export async function forgetStatements(database: TestDatabase): Promise<void> {
  await database.query(
    'SELECT pg_stat_statements_reset(0, oid, 0) FROM pg_database WHERE datname = current_database()',
  );
}

/** Statements of the services since they were forgotten; those of the owner, who looks here, are left out. */
export async function countStatements(database: TestDatabase): Promise<StatementCount[]> {
  const rows = await database.query<Omit<StatementCount, 'name'> & { query: string }>(`
    SELECT query, calls::int, rows::int, wal_bytes::float8 AS "walBytes", wal_fpi::int AS "pageImages"
    FROM pg_stat_statements
    WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND userid <> (SELECT oid FROM pg_roles WHERE rolname = current_user)`);
  return rows.map(({ query, ...counts }) => ({ name: nameOf(query), ...counts }));
}

/** Calls by name, without those that come by the clock. */
export function callsByName(statements: readonly StatementCount[]): Record<string, number> {
  const relayRuns = statements.some(({ name }) => name === 'claim_outbox');
  const calls: Record<string, number> = {};
  for (const { name, calls: more } of statements) {
    if (byTheClock.has(name) || (relayRuns && ofTheRelay.has(name))) continue;
    calls[name] = (calls[name] ?? 0) + more;
  }
  return calls;
}
