/**
 * The events of at most $4 intents that wait for people, of tenant $1 and tool $2 (null: all), after the intent $3 (null: from
 * the first), in stream order. The columns are those of load_streams.
 */
export const loadAwaiting = {
  name: 'load_awaiting',
  text: `
    SELECT 0 AS now, e.intent_id, e.version, e.type, e.data, e.command_id, (extract(epoch FROM e.recorded_at) * 1000)::float8 AS at
    FROM (
      SELECT id FROM intents
      WHERE state = 'awaiting_approval' AND id > coalesce($3::text, '')
        AND ($1::text IS NULL OR tenant = $1) AND ($2::text IS NULL OR tool = $2)
      ORDER BY id LIMIT $4
    ) AS i
    JOIN events AS e ON e.intent_id = i.id
    ORDER BY e.intent_id, e.version`,
};

/**
 * At most $3 intents after $4 (null: from the first) that wait for people by the policy files $1 and a tool file of $2, while those
 * of before have said what is asked. Only what is asked anew can be.
 */
export const findUnjudged = {
  name: 'find_unjudged',
  text: `
    SELECT i.id FROM intents AS i
    CROSS JOIN LATERAL (
      SELECT data -> 'request' AS asked FROM events
      WHERE intent_id = i.id AND type = 'approval_requested' ORDER BY version DESC LIMIT 1
    ) AS newest
    WHERE i.state = 'awaiting_approval' AND i.reason IN ('differs', 'grant') AND i.id > coalesce($4::text, '')
      AND asked ->> 'policy' = $1 AND asked ->> 'judged' <> $1 AND asked ->> 'toolFile' = ANY ($2::text[])
    ORDER BY i.id LIMIT $3`,
};
