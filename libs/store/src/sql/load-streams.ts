/**
 * The database clock and the events of the intents named by id ($1) or by key ($2), in stream order.
 * Always at least one row: the clock is needed even when nothing is found.
 */
export const loadStreams = {
  name: 'load_streams',
  text: `
    SELECT clock.now, e.intent_id, e.version, e.type, e.data, e.command_id, e.at
    FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now) AS clock
    LEFT JOIN (
      SELECT intent_id, version, type, data, command_id, (extract(epoch FROM recorded_at) * 1000)::float8 AS at
      FROM events
      WHERE intent_id = ANY (ARRAY(
        SELECT unnest($1::text[]) UNION SELECT id FROM intents WHERE key = ANY ($2::text[])))
    ) AS e ON true
    ORDER BY e.intent_id, e.version`,
};

export interface StreamRow {
  now: number;
  intent_id: string | null;
  version: number;
  type: string;
  data: Record<string, unknown>;
  command_id: string;
  at: number;
}
