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
