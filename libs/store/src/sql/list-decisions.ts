import type { Change, RecordedDecision } from '@intendant/contracts';
import { longestArgs } from './load-facts.js';

/** Sorts as a text. */
const utc = (time: string) => `to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/**
 * Decisions of admission, the oldest first: at most $6 of tenant $4 about tool $5 (null: all), after the intent $3 (null:
 * from the first), since $1 ms since the epoch or, where that is null, in the last $2 ms. Both bounds are
 * conditions on the id, so what follows from a page is found without reading what was before it. One row at least: it tells
 * since when they are, without an intent where there are none.
 */
export const listDecisions = {
  name: 'list_decisions',
  text: `
    SELECT ${utc('c.since')} AS since, d.*
    FROM (SELECT coalesce(to_timestamp($1::float8 / 1000), clock_timestamp() - $2::float8 * interval '1 ms') AS since) AS c
    LEFT JOIN LATERAL (
      SELECT i.id AS "intentId", ${utc('i.recorded_at')} AS at, i.tenant, i.run_id AS "runId", i.sandbox, i.tool,
        i.tool_version AS "toolVersion", i.effect, e.proposal->>'user' AS "user", e.proposal->>'phase' AS phase,
        CASE WHEN octet_length((e.proposal->'args')::text) <= ${longestArgs} THEN e.proposal->'args' END AS args,
        coalesce((e.proposal->>'cost')::float8, 0) AS "costMicros", e.proposal->>'taintedBy' AS "taintedBy",
        e.decision, coalesce((SELECT json_agg(d->'rule') FROM json_array_elements(e.ruling->'request'->'demands') AS d), '[]')
          AS "demandedBy", e.ruling->'failure'->>'code' AS code, e.ruling->'failure'->'details'->>'wouldAllow' AS "wouldAllow",
        e.ruling->'reasons' AS reasons, e.changes, CASE WHEN r.id IS NOT NULL THEN json_build_object('profile', r.profile,
          'permissions', r.permissions, 'openedBy', r.opened_by, 'openedAt', ${utc('r.opened_at')},
          'restrictions', r.restrictions) END AS run
      FROM (
        SELECT * FROM intents
        WHERE id >= intent_id_at(c.since) AND id > coalesce($3::text, '')
          AND ($4::text IS NULL OR tenant = $4) AND ($5::text IS NULL OR tool = $5)
        ORDER BY id LIMIT $6
      ) AS i
      LEFT JOIN runs AS r ON r.id = i.run_id
      CROSS JOIN LATERAL (
        SELECT (json_agg(v.data->'proposal') FILTER (WHERE v.version = 1))->0 AS proposal,
          (json_agg(v.data) FILTER (WHERE v.version = 2))->0 AS ruling,
          min(v.type) FILTER (WHERE v.version = 2) AS decision,
          json_agg(json_strip_nulls(json_build_object('at', ${utc('v.recorded_at')}, 'type', v.type,
            'basis', v.data->'basis', 'attempt', v.data->'attempt', 'sent', v.data->'sent', 'absences', v.data->'absences',
            'reason', CASE WHEN v.type = 'dead_lettered' THEN v.data->'reason' END, 'finding', v.data->'finding'
          )) ORDER BY v.version) AS changes
        FROM events AS v WHERE v.intent_id = i.id
      ) AS e
    ) AS d ON true
    ORDER BY d."intentId"`,
};

/** Of an intent; with only `since` where there is none. */
export interface DecisionRow extends Omit<RecordedDecision, 'decision' | 'intentId'> {
  readonly since: string;
  readonly intentId: string | null;
  /** Type of the event that tells the decision. */
  readonly decision: Change['type'];
}
