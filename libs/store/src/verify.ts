import type { PoolClient } from 'pg';
import type { DataSource } from 'typeorm';
import { poolOf } from './connection.js';
import { project } from './projection.js';
import { loadStreams, type StreamRow } from './sql/load-streams.js';
import { foldRows, type Stream } from './stream.js';

export interface Difference {
  readonly intentId: string;
  readonly column: string;
  readonly row: unknown;
  readonly log: unknown;
}

/**
 * Folds every stream again and names each column of the read model that says something else. Rows and log are read
 * from one snapshot, so that intents that move meanwhile are no differences.
 */
export async function verifyReadModel(dataSource: DataSource): Promise<Difference[]> {
  const client = await poolOf(dataSource).connect();
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const differences: Difference[] = [];
    let last = '';
    for (let page = await readPage(client, last); page.length > 0; page = await readPage(client, last)) {
      last = page.at(-1)?.id ?? last;
      const { rows } = await client.query<StreamRow>({ ...loadStreams, values: [page.map((r) => r.id), []] });
      const streams = foldRows(rows);
      differences.push(...page.flatMap((row) => compare(row, streams.get(row.id))));
    }
    await client.query('COMMIT');
    return differences;
  } finally {
    // Whatever state it is in: this is no hot path.
    client.release(true);
  }
}

type Row = Record<string, unknown> & { readonly id: string };

async function readPage(client: PoolClient, after: string): Promise<Row[]> {
  const { rows } = await client.query<Row>(
    // An operation is let go of when its time is over, without an event.
    `SELECT id, state, version, attempts, reason, lease_until AS "leaseUntil", expires_at AS "expiresAt", since, calls,
       cost::float8, held, operation, coalesce(operation_until <= clock_timestamp(), false) AS "letGo"
     FROM intents WHERE id > $1 ORDER BY id LIMIT 500`,
    [after],
  );
  return rows;
}

function compare(row: Row, stream: Stream | Error | undefined): Difference[] {
  if (!stream || stream instanceof Error) {
    return [{ intentId: row.id, column: 'id', row: row.id, log: stream?.message ?? null }];
  }
  const { wakeAt: _, ...expected } = project(stream.intent);
  return Object.entries(expected).flatMap(([column, log]) => {
    const value = row[column] instanceof Date ? row[column].getTime() : row[column];
    if (column === 'operation' && value === null && row['letGo'] === true) return [];
    return value === log ? [] : [{ intentId: row.id, column, row: value, log }];
  });
}
