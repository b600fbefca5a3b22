import type { QueryRunner } from 'typeorm';

/** The account that services use. Roles belong to the whole server, so two installations on one need two names. */
export interface ApplicationRole {
  readonly name: string;
  /** Undefined leaves it as it is. */
  readonly password?: string | undefined;
}

export const applicationRole = 'intendant_app';

/**
 * What the services may do, stated in full each time: the log is append-only because nobody who runs a service has
 * the right to change it. `UPDATE` on the outbox is what `FOR UPDATE SKIP LOCKED` needs.
 */
export async function grantApplicationRole(runner: QueryRunner, role: ApplicationRole): Promise<void> {
  // All at once, so that no service ever meets a moment without rights.
  await runner.startTransaction();
  try {
    await stateRights(runner, role);
    await runner.commitTransaction();
  } catch (error) {
    await runner.rollbackTransaction();
    throw error;
  }
}

async function stateRights(runner: QueryRunner, { name, password }: ApplicationRole): Promise<void> {
  const [quoted]: [{ role: string; database: string; password: string }] = await runner.query(
    `SELECT quote_ident($1) AS role, quote_ident(current_database()) AS database, quote_literal($2::text) AS password`,
    [name, password ?? ''],
  );
  const { role, database } = quoted;
  const owners: unknown[] = await runner.query('SELECT 1 WHERE current_user = $1', [name]);
  if (owners.length > 0) throw new Error(`services must not use the owner's account ${name}: give them another one`);
  const exists: unknown[] = await runner.query('SELECT 1 FROM pg_roles WHERE rolname = $1', [name]);
  if (exists.length === 0) await runner.query(`CREATE ROLE ${role} LOGIN`);
  if (password !== undefined) await runner.query(`ALTER ROLE ${role} PASSWORD ${quoted.password}`);
  await runner.query(`GRANT CONNECT ON DATABASE ${database} TO ${role}`);
  await runner.query(
    `REVOKE ALL ON migrations, events, tool_contracts, intents, runs, dead_messages, outbox, lookup_receipts, pauses, yields, rate_buckets, grants FROM ${role}`,
  );
  await runner.query(`GRANT SELECT ON migrations TO ${role}`);
  await runner.query(`GRANT SELECT, INSERT ON events, tool_contracts TO ${role}`);
  await runner.query(
    `GRANT SELECT, INSERT, UPDATE ON intents, runs, dead_messages, lookup_receipts, pauses, rate_buckets, grants TO ${role}`,
  );
  await runner.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON outbox TO ${role}`);
  await runner.query(`GRANT SELECT, INSERT, DELETE ON yields TO ${role}`);
  await runner.query(`GRANT EXECUTE ON FUNCTION ensure_event_partitions(integer) TO ${role}`);
}
