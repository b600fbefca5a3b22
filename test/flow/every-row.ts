import type { TestDatabase } from '@intendant/testing';

/** Every row of every table, as text. */
export async function everyRow(database: TestDatabase): Promise<string[]> {
  const tables = await database.query<{ name: string }>(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
  );
  const rows = tables.map(({ name }) =>
    database.query<{ row: string }>(`SELECT to_json(t)::text AS row FROM ${name} t`),
  );
  return (await Promise.all(rows)).flat().map(({ row }) => row);
}
