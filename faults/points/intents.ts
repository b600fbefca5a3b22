import pg from 'pg';

/** How intents stand, by the database itself. */
export class Intents {
  private readonly pool: pg.Pool;

  constructor(databaseUrl: string) {
    this.pool = new pg.Pool({ connectionString: databaseUrl, max: 2, application_name: 'rig-points' });
    this.pool.on('error', () => undefined);
  }

  /** None of them moves by itself any more, and what is to be told of them is published. */
  async areAtRest(ids: readonly string[]): Promise<boolean> {
    const { rows } = await this.pool.query<{ resting: number; waiting: number }>(
      `SELECT (SELECT count(*)::int FROM intents WHERE id = ANY ($1) AND wake_at IS NULL) AS resting,
         (SELECT count(*)::int FROM outbox WHERE split_part(msg_id, '-', 1) = ANY ($1)) AS waiting`,
      [ids],
    );
    return rows[0]?.resting === ids.length && rows[0].waiting === 0;
  }

  /** What a dead process had claimed is nobody's for half a minute; lets that time pass at once. */
  async endClaims(ids: readonly string[]): Promise<void> {
    await this.pool.query(
      `UPDATE intents SET wake_at = CASE state WHEN 'dispatching' THEN lease_until ELSE clock_timestamp() END
       WHERE id = ANY ($1) AND state IN ('unknown', 'accepted', 'dispatching')
         AND wake_at > greatest(lease_until, clock_timestamp()) + interval '6 s'`,
      [ids],
    );
  }

  async close(): Promise<void> {
    await this.pool.end();
  }
}
