import { doubts, type Effect, type EventType, terminalStates } from '@intendant/intent';

/** Transaction ids are stored in 32 bits; this one in 64, by its distance from the horizon. */
const whole = (xmin: string) =>
  `horizon.xid + ((${xmin}::text::bigint - horizon.xid + 2147483648) % 4294967296 + 4294967296) % 4294967296 - 2147483648`;

const open = `state NOT IN (${terminalStates.map((state) => `'${state}'`).join(', ')})`;

/**
 * Where the events of run $1 lie that follow position ($2, $3, $4), $5 at most, ordered by the transaction that wrote
 * them. Those of transactions that began after one that still runs are withheld: it may yet write something that
 * belongs before them. An intent's row is written whenever its log is, so rows older than $2 need no look into the log.
 * Always at least one row.
 */
export const runLog = {
  name: 'run_log',
  text: `
    WITH horizon AS MATERIALIZED (
      SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS xid
    ), mine AS MATERIALIZED (
      SELECT i.id, i.version, i.state, ${whole('i.xmin')} AS xid FROM horizon, intents AS i WHERE i.run_id = $1
    ), entry AS MATERIALIZED (
      SELECT ${whole('e.xmin')} AS xid, e.intent_id, e.version
      FROM horizon, mine JOIN events AS e ON e.intent_id = mine.id
      WHERE mine.xid >= $2::bigint
    ), page AS (
      SELECT entry.* FROM entry, horizon
      WHERE entry.xid < horizon.xid AND (entry.xid, entry.intent_id, entry.version) > ($2::bigint, $3::text, $4::int)
      ORDER BY entry.xid, entry.intent_id, entry.version LIMIT $5
    )
    SELECT (SELECT coalesce(sum(version), 0)::float8 FROM mine)
        + (SELECT count(*)::float8 FROM runs WHERE id = $1 AND closed_at IS NOT NULL) AS total,
      EXISTS (SELECT FROM mine WHERE ${open}) AS open,
      EXISTS (SELECT FROM entry, horizon WHERE entry.xid >= horizon.xid) AS withheld,
      page.xid::text AS xid, page.intent_id AS "intentId", page.version
    FROM (SELECT) AS always LEFT JOIN page ON true
    ORDER BY page.xid, page.intent_id, page.version`,
};

export interface RunLogRow {
  total: number;
  open: boolean;
  withheld: boolean;
  xid: string | null;
  intentId: string;
  version: number;
}

/** Of the intents of run $1 that had an effect in doubt: what happened to each. */
export const doubtedOf = {
  name: 'doubted_of',
  text: `
    SELECT i.effect, array_agg(e.type) AS types
    FROM intents AS i JOIN events AS e ON e.intent_id = i.id
    WHERE i.run_id = $1 AND i.effect <> 'read'
    GROUP BY i.id HAVING bool_or(e.type IN (${doubts.map((type) => `'${type}'`).join(', ')}))`,
};

export interface DoubtedRow {
  effect: Effect;
  types: EventType[];
}

/** How many events each of these intents has. */
export const versionsOf = {
  name: 'versions_of',
  text: 'SELECT id, version::float8 AS count FROM intents WHERE id = ANY ($1::text[])',
};

/** How many events each of these runs has; its end counts as one. */
export const totalsOf = {
  name: 'totals_of',
  text: `
    SELECT r.id, (r.closed_at IS NOT NULL)::int
      + (SELECT coalesce(sum(i.version), 0)::float8 FROM intents AS i WHERE i.run_id = r.id) AS count
    FROM runs AS r WHERE r.id = ANY ($1::text[])`,
};

export interface CountRow {
  id: string;
  count: number;
}

export const runsOf = {
  name: 'runs_of',
  text: 'SELECT DISTINCT run_id AS id FROM intents WHERE id = ANY ($1::text[])',
};
