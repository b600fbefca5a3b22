import type { QueryRunner } from 'typeorm';

/**
 * The schema as text, in a stable order, from the catalogue: no client tool is needed, so it can be compared in every
 * test run. Monthly partitions are left out, since they depend on the date.
 */
export async function dumpSchema(runner: Pick<QueryRunner, 'query'>): Promise<string> {
  const parts: string[] = [];
  for (const { name, kind } of await tables(runner)) {
    const columns: { line: string }[] = await runner.query(columnLines, [name]);
    const constraints: { line: string }[] = await runner.query(constraintLines, [name]);
    parts.push(
      `CREATE TABLE ${name} (\n${[...columns, ...constraints].map((c) => `  ${c.line}`).join(',\n')}\n)${kind};`,
    );
  }
  for (const query of [indexLines, functionLines, grantLines]) {
    const rows: { line: string }[] = await runner.query(query);
    parts.push(rows.map((row) => `${row.line};`).join('\n'));
  }
  return `${parts.join('\n\n')}\n`;
}

function tables(runner: Pick<QueryRunner, 'query'>): Promise<{ name: string; kind: string }[]> {
  return runner.query(`
    SELECT c.oid::regclass::text AS name,
      coalesce(' PARTITION BY ' || pg_get_partkeydef(c.oid), '') ||
      coalesce(' WITH (' || array_to_string(c.reloptions, ', ') || ')', '') AS kind
    FROM pg_class c
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    ORDER BY c.relname`);
}

const columnLines = `
  SELECT quote_ident(a.attname) || ' ' || format_type(a.atttypid, a.atttypmod)
    || CASE WHEN a.attcollation <> t.typcollation THEN ' COLLATE "' || co.collname || '"' ELSE '' END
    || CASE WHEN a.attidentity = 'a' THEN ' GENERATED ALWAYS AS IDENTITY' ELSE '' END
    || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END
    || coalesce(' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid), '') AS line
  FROM pg_attribute a
  JOIN pg_type t ON t.oid = a.atttypid
  LEFT JOIN pg_collation co ON co.oid = a.attcollation
  LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
  WHERE a.attrelid = $1::regclass AND a.attnum > 0 AND NOT a.attisdropped
  ORDER BY a.attnum`;

const constraintLines = `
  SELECT 'CONSTRAINT ' || conname || ' ' || pg_get_constraintdef(oid) AS line
  FROM pg_constraint WHERE conrelid = $1::regclass AND contype IN ('p', 'u', 'c', 'f') ORDER BY contype DESC, conname`;

const indexLines = `
  SELECT pg_get_indexdef(i.indexrelid) AS line
  FROM pg_index i
  JOIN pg_class c ON c.oid = i.indrelid
  WHERE c.relnamespace = 'public'::regnamespace AND NOT c.relispartition
    AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = i.indexrelid)
  ORDER BY 1`;

const functionLines = `
  SELECT pg_get_functiondef(oid) AS line FROM pg_proc
  WHERE pronamespace = 'public'::regnamespace ORDER BY proname`;

const grantLines = `
  SELECT 'GRANT ' || string_agg(privilege_type, ', ' ORDER BY privilege_type) || ' ON ' || table_name || ' TO ' || grantee AS line
  FROM information_schema.role_table_grants
  WHERE table_schema = 'public' AND grantee LIKE 'intendant%'
  GROUP BY table_name, grantee ORDER BY table_name`;
