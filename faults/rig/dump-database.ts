import { applicationRole } from '@intendant/migrations';
import pg from 'pg';
import type { DatabaseDump } from '../history/database.js';

/** ms since the epoch with a fraction. */
const ms = (column: string) => `(extract(epoch FROM ${column}) * 1000)::float8`;

/** Longer than any look of a service at its tables takes. */
const lookMs = 2_000;

const statements = {
  events: `
    SELECT intent_id AS "intentId", version, type, data, command_id AS "commandId",
           ${ms('recorded_at')} AS "recordedAt", ${ms('pg_xact_commit_timestamp(xmin)')} AS "committedAt"
    FROM events ORDER BY intent_id, version`,
  intents: `
    SELECT id, tenant, run_id AS "runId", step_id AS "stepId", tool, effect, key, fingerprint, state, version, attempts,
           reason, ${ms('lease_until')} AS "leaseUntil", ${ms('wake_at')} AS "wakeAt"
    FROM intents ORDER BY id`,
  outbox: 'SELECT msg_id AS "msgId", subject, payload FROM outbox ORDER BY created_at, msg_id',
  deadMessages: `SELECT id, subject, error, encode(payload, 'escape') AS payload FROM dead_messages ORDER BY id`,
  // Sweepers and the relay begin and end a short transaction with each of their looks.
  sessions: `
    SELECT application_name AS application, count(*)::int AS total,
           (count(*) FILTER (WHERE xact_start < clock_timestamp() - interval '${lookMs} ms'))::int AS "inTransaction"
    FROM pg_stat_activity WHERE usename = '${applicationRole}' GROUP BY 1 ORDER BY 1`,
} as const;

/** Everything the checker judges of the database, at one moment; `url` is the owner's. */
export async function dumpDatabase(url: string): Promise<DatabaseDump> {
  const client = new pg.Client({ connectionString: url, application_name: 'rig' });
  await client.connect();
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const rows: Record<string, unknown[]> = {};
    for (const [name, text] of Object.entries(statements)) rows[name] = (await client.query(text)).rows;
    await client.query('COMMIT');
    return rows as unknown as DatabaseDump;
  } finally {
    await client.end();
  }
}
