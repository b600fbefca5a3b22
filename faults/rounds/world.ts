import { Client } from 'pg';

/** An intent that waits for a person. */
export interface DeadLetter {
  readonly intentId: string;
  readonly ref: string;
  readonly tool: string;
  readonly key: string;
  readonly runId: string;
  readonly stepId: string | null;
  /** Ids of all attempts that were started. */
  readonly attempts: readonly string[];
  /** When it became one, in ms since the epoch. */
  readonly since: number;
}

/** An intent that will move without anybody doing anything. */
export interface Moving {
  readonly intentId: string;
  readonly state: string;
}

const movingIntents = `SELECT id AS "intentId", state FROM intents WHERE wake_at IS NOT NULL ORDER BY id`;
const deadLetters = `
  SELECT i.id AS "intentId", i.tool, i.key, i.run_id AS "runId", i.step_id AS "stepId",
    (extract(epoch FROM i.since) * 1000)::float8 AS since, e.data->'proposal'->'args'->>'ref' AS ref,
    ARRAY(SELECT a.data->>'attemptId' FROM events a WHERE a.intent_id = i.id AND a.type = 'attempt_started') AS attempts
  FROM intents i JOIN events e ON e.intent_id = i.id AND e.version = 1
  WHERE i.state = 'dead_lettered'`;
const announcements = `SELECT id, version, tool, tool_version AS "toolVersion", state FROM intents`;

/** What PostgreSQL holds, asked past everything that is broken on the way; it may be away itself. */
export class World {
  constructor(private readonly databaseUrl: string) {}

  moving(): Promise<Moving[]> {
    return this.#rows(movingIntents);
  }

  async outbox(): Promise<number> {
    const [row] = await this.#rows<{ n: number }>('SELECT count(*)::int AS n FROM outbox');
    return row?.n ?? 0;
  }

  deadLetters(): Promise<DeadLetter[]> {
    return this.#rows(deadLetters);
  }

  /** Every intent as a doorbell names it. */
  announcements(): Promise<{ id: string; version: number; tool: string; toolVersion: number; state: string }[]> {
    return this.#rows(announcements);
  }

  /** A connection for each question: one that is kept would be cut with those of the services. */
  async #rows<T>(text: string): Promise<T[]> {
    const client = new Client({
      connectionString: this.databaseUrl,
      connectionTimeoutMillis: 2_000,
      query_timeout: 5_000,
      application_name: 'rig-world',
    });
    // What is cut while nobody asks is told by the next question.
    client.on('error', () => undefined);
    try {
      await client.connect();
      return (await client.query(text)).rows as T[];
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}
