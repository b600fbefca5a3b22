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
 * Pauses the scope $2 to $5 for $9 ms, or until somebody ends it. $8: the tenant the author works for; null for all. A
 * pause of the same scope and the same authority is replaced, and ends with this.
 */
export const beginPause = {
  name: 'begin_pause',
  text: `
    WITH replaced AS (
      UPDATE pauses SET ended_at = clock_timestamp(), ended_by = $7
      WHERE ${inForce} AND (tenant, tool, namespace, upstream, author_tenant)
        IS NOT DISTINCT FROM ($2::text, $3::text, $4::text, $5::text, $8::text)
    )
    INSERT INTO pauses (id, tenant, tool, namespace, upstream, reason, author, author_tenant, until)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, clock_timestamp() + $9::float8 * interval '1 ms')
    RETURNING ${columns}`,
};

/** $3: whoever began it has to work for that tenant; null for anybody. */
export const endPause = {
  name: 'end_pause',
  text: `
    UPDATE pauses SET ended_at = clock_timestamp(), ended_by = $2
    WHERE id = $1 AND ${inForce} AND ($3::text IS NULL OR author_tenant = $3)
    RETURNING ${columns}`,
};

/**
 * Authorized intents that may have waited for it are announced again with the next sweep. Rows that somebody else holds
 * are passed by: whoever holds them is doing something about them, and nobody waits for the other in a circle.
 */
export const wakeAuthorized = {
  name: 'wake_authorized',
  text: `
    UPDATE intents AS i SET wake_at = statement_timestamp()
    FROM (
      SELECT id FROM intents
      WHERE state = 'authorized' AND wake_at > statement_timestamp()
        AND ($1::text IS NULL OR tenant = $1) AND ($2::text IS NULL OR tool = $2)
        AND ($3::text IS NULL OR starts_with(tool, $3 || '.'))
      FOR UPDATE SKIP LOCKED
    ) AS waiting
    WHERE i.id = waiting.id`,
};

/** Intents of tools $2, and of tenant $1 unless that is null, that a pause comes too late for. */
export const countUnderWay = {
  name: 'count_under_way',
  text: `
    SELECT count(*)::int AS count FROM intents
    WHERE state IN ('dispatching', 'accepted', 'unknown') AND wake_at IS NOT NULL
      AND ($1::text IS NULL OR tenant = $1) AND tool = ANY ($2::text[])`,
};
