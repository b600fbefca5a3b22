/**
 * The whole transaction of the door in one statement: read-model rows compared and set by version, then, only for
 * those that were still at the expected version, their events and messages. An intent that somebody else moved, or
 * whose key somebody else recorded first, is missing from the result; its neighbours are not affected.
 */
export const append = {
  name: 'append',
  text: `
    WITH change AS (
      SELECT * FROM unnest($1::text[], $2::int[], $3::int[], $4::text[], $5::int[], $6::text[], $7::float8[], $8::float8[],
        $9::float8[], $10::float8[])
        AS c (id, expected, version, state, attempts, reason, lease_until, wake_at, expires_at, since)
    ), fresh AS (
      INSERT INTO intents (id, tenant, run_id, step_id, tool, tool_version, effect, key, fingerprint,
        state, version, attempts, reason, lease_until, wake_at, expires_at, recorded_at, since)
      SELECT c.id, n.tenant, n.run_id, n.step_id, n.tool, n.tool_version, n.effect, n.key, n.fingerprint,
        c.state, c.version, c.attempts, c.reason, to_timestamp(c.lease_until / 1000), to_timestamp(c.wake_at / 1000),
        to_timestamp(c.expires_at / 1000), to_timestamp(c.since / 1000), to_timestamp(c.since / 1000)
      FROM unnest($11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::int[], $17::text[], $18::text[], $19::text[])
        AS n (id, tenant, run_id, step_id, tool, tool_version, effect, key, fingerprint)
      JOIN change AS c ON c.id = n.id
      ON CONFLICT DO NOTHING
      RETURNING id
    ), moved AS (
      UPDATE intents AS i
      SET state = c.state, version = c.version, attempts = c.attempts, reason = c.reason,
        lease_until = to_timestamp(c.lease_until / 1000), wake_at = to_timestamp(c.wake_at / 1000),
        expires_at = to_timestamp(c.expires_at / 1000), since = to_timestamp(c.since / 1000)
      FROM change AS c
      WHERE i.id = c.id AND i.version = c.expected AND c.expected > 0
      RETURNING i.id
    ), done AS (
      SELECT id FROM fresh UNION ALL SELECT id FROM moved
    ), log AS (
      INSERT INTO events (intent_id, version, type, data, command_id, recorded_at)
      SELECT e.intent_id, e.version, e.type, e.data, e.command_id, to_timestamp(e.at / 1000)
      FROM unnest($20::text[], $21::int[], $22::text[], $23::json[], $24::text[], $25::float8[])
        AS e (intent_id, version, type, data, command_id, at)
      JOIN done ON done.id = e.intent_id
    ), box AS (
      INSERT INTO outbox (msg_id, subject, payload)
      SELECT o.msg_id, o.subject, o.payload
      FROM unnest($26::text[], $27::text[], $28::text[], $29::text[]) AS o (intent_id, msg_id, subject, payload)
      WHERE o.intent_id IS NULL OR EXISTS (SELECT FROM done WHERE done.id = o.intent_id)
    )
    SELECT id FROM done`,
};
