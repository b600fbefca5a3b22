const columns = `id, tenant, user_id AS "user", profile, permissions, phase, opened_by AS "openedBy",
  expires_at AS "expiresAt", closed_at AS "closedAt"`;

export interface RunRow {
  id: string;
  tenant: string;
  user: string;
  profile: 'interactive' | 'batch';
  permissions: string[];
  phase: string | null;
  openedBy: string;
  expiresAt: Date;
  closedAt: Date | null;
}

/** Lives $8 ms, counted on the database clock. */
export const openRun = {
  name: 'open_run',
  text: `
    INSERT INTO runs (id, tenant, user_id, profile, permissions, phase, opened_by, expires_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, clock_timestamp() + $8::float8 * interval '1 ms')
    RETURNING ${columns}`,
};

export const findRuns = { name: 'find_runs', text: `SELECT ${columns} FROM runs WHERE id = ANY ($1::text[])` };

export const closeRun = {
  name: 'close_run',
  text: 'UPDATE runs SET closed_at = coalesce(closed_at, clock_timestamp()) WHERE id = $1 AND tenant = $2',
};
