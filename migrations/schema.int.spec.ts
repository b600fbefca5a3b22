import { readFile, writeFile } from 'node:fs/promises';
import { createDatabase, type TestDatabase } from '@intendant/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dumpSchema } from './dump-schema.js';
import { migrate } from './migrate.js';

const file = new URL('./schema.sql', import.meta.url);
let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

test('the committed schema is what the migrations make', async () => {
  const text = await dumpSchema({ query: (sql: string, values?: unknown[]) => database.query(sql, values) as never });
  if (process.env.UPDATE_SCHEMA === '1') await writeFile(file, text);
  expect(await readFile(file, 'utf8'), 'UPDATE_SCHEMA=1 writes it').toBe(text);
});

test('migrating again changes nothing, also when two processes do it at once', async () => {
  expect(await Promise.all([migrate(database.ownerUrl), migrate(database.ownerUrl)])).toEqual([[], []]);
});

test('events lie in the partition of the month their intent was made in', async () => {
  const [month] = await database.query<{ name: string; first: string; last: string }>(`
    SELECT 'events_' || to_char(now() AT TIME ZONE 'UTC', 'YYYY_MM') AS name,
      intent_id_at(date_trunc('month', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC') AS first,
      intent_id_at((date_trunc('month', now() AT TIME ZONE 'UTC') + interval '1 month') AT TIME ZONE 'UTC') AS last`);
  const rows = await database.query<{ partition: string }>(
    `INSERT INTO events (intent_id, version, type, data, command_id, recorded_at)
     VALUES ($1, 1, 'recorded', '{}', 'c', now()), ($2, 1, 'recorded', '{}', 'c', now()), ('00000000000000000000000000', 1, 'recorded', '{}', 'c', now())
     RETURNING tableoid::regclass::text AS partition`,
    [month?.first, month?.last],
  );
  expect(rows[0]?.partition).toBe(month?.name);
  expect(rows[1]?.partition).not.toBe(month?.name);
  expect(rows[1]?.partition).toMatch(/^events_\d{4}_\d{2}$/);
  expect(rows[2]?.partition).toBe('events_default');
});

test('the first id of a moment sorts with the ids that the services make', async () => {
  const { ulid } = await import('ulid');
  const at = Date.UTC(2026, 10, 30, 12, 34, 56, 789);
  const [row] = await database.query<{ id: string }>('SELECT intent_id_at(to_timestamp($1::float8 / 1000)) AS id', [
    at,
  ]);
  expect(row?.id.slice(0, 10)).toBe(ulid(at).slice(0, 10));
});
