const columns = 'id, tenant, tool, namespace, upstream, reason, author, since, until';

export interface PauseRow {
  id: string;
  tenant: string | null;
  tool: string | null;
  namespace: string | null;
  upstream: string | null;
  reason: string;
  author: string;
  since: Date;
  until: Date | null;
}

const inForce = 'ended_at IS NULL AND (until IS NULL OR until > statement_timestamp())';

/** Those in force, the oldest first. */
export const currentPauses = {
  name: 'current_pauses',
  text: `SELECT ${columns} FROM pauses WHERE ${inForce} ORDER BY since, id`,
};

/**
 * Pauses the scope $2 to $5 for $8 ms, or until somebody ends it. Where it is paused already, reason, author and end are
 * those of now; one whose time was over begins anew.
 */
export const setPause = {
  name: 'set_pause',
  text: `
    INSERT INTO pauses AS p (id, tenant, tool, namespace, upstream, reason, author, until)
    VALUES ($1, $2, $3, $4, $5, $6, $7, clock_timestamp() + $8::float8 * interval '1 ms')
    ON CONFLICT (coalesce(tenant, ''), coalesce(tool, ''), coalesce(namespace, ''), coalesce(upstream, ''))
      WHERE ended_at IS NULL
    DO UPDATE SET reason = EXCLUDED.reason, author = EXCLUDED.author, until = EXCLUDED.until,
      since = CASE WHEN p.until <= clock_timestamp() THEN clock_timestamp() ELSE p.since END
    RETURNING ${columns}`,
};

/** $3: the tenant it has to be of; null for any. */
export const endPause = {
  name: 'end_pause',
  text: `
    UPDATE pauses SET ended_at = clock_timestamp(), ended_by = $2
    WHERE id = $1 AND ${inForce} AND ($3::text IS NULL OR tenant = $3)
    RETURNING ${columns}`,
};

/** Authorized intents that may have waited for it are announced again with the next sweep. */
export const wakeAuthorized = {
  name: 'wake_authorized',
  text: `
    UPDATE intents SET wake_at = statement_timestamp()
    WHERE state = 'authorized' AND wake_at > statement_timestamp()
      AND ($1::text IS NULL OR tenant = $1) AND ($2::text IS NULL OR tool = $2)
      AND ($3::text IS NULL OR starts_with(tool, $3 || '.'))`,
};

/** Intents of tools $2, and of tenant $1 unless that is null, that a pause comes too late for. */
export const countUnderWay = {
  name: 'count_under_way',
  text: `
    SELECT count(*)::int AS count FROM intents
    WHERE state IN ('dispatching', 'accepted', 'unknown') AND wake_at IS NOT NULL
      AND ($1::text IS NULL OR tenant = $1) AND tool = ANY ($2::text[])`,
};
