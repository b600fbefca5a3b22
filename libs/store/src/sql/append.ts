import { clockToleranceMs } from '@intendant/contracts';

/**
 * Between the values of a column that holds JSON texts, which never contain a control character: an array of them would
 * have to be escaped, text by text, and that costs more than everything else about a statement.
 */
export const jsonSeparator = '\x1f';

/**
 * The whole transaction of the door in one statement: read-model rows compared and set by version, then, only for
 * those that were still at the expected version, their events and messages. Nothing is written when the time of the
 * decisions ($26) is not the time of the database.
 *
 * Returns the time, and beside it the intents that were not written, if any: somebody else moved them, recorded their
 * key first, or closed their run. Their neighbours are not affected.
 */
export const append = {
  name: 'append',
  text: `
    WITH clock AS MATERIALIZED (
      SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now
    ), change AS (
      SELECT c.* FROM clock, unnest($1::text[], $2::int[], $3::int[], $4::text[], $5::int[], $6::text[], $7::float8[], $8::float8[],
        $9::float8[], $10::float8[])
        AS c (id, expected, version, state, attempts, reason, lease_until, wake_at, expires_at, since)
      WHERE abs(clock.now - $26::float8) <= ${clockToleranceMs}
    ), fresh AS (
      INSERT INTO intents (id, tenant, run_id, step_id, tool, tool_version, effect, key, fingerprint, sandbox,
        state, version, attempts, reason, lease_until, wake_at, expires_at, recorded_at, since)
      SELECT c.id, n.tenant, n.run_id, n.step_id, n.tool, n.tool_version, n.effect, n.key, n.fingerprint, n.sandbox,
        c.state, c.version, c.attempts, c.reason, to_timestamp(c.lease_until / 1000), to_timestamp(c.wake_at / 1000),
        to_timestamp(c.expires_at / 1000), to_timestamp(c.since / 1000), to_timestamp(c.since / 1000)
      FROM unnest($11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::int[], $17::text[], $18::text[], $19::text[], $31::boolean[])
        AS n (id, tenant, run_id, step_id, tool, tool_version, effect, key, fingerprint, sandbox)
      JOIN change AS c ON c.id = n.id
      WHERE NOT EXISTS (SELECT FROM runs AS r WHERE r.id = n.run_id AND r.closed_at IS NOT NULL)
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
      SELECT e.intent_id, e.version, e.type, e.data::json, e.command_id, to_timestamp(e.at / 1000)
      FROM unnest($20::text[], $21::int[], $22::text[], string_to_array($23::text, chr(31)), $24::text[], $25::float8[])
        AS e (intent_id, version, type, data, command_id, at)
      JOIN done ON done.id = e.intent_id
    ), box AS (
      INSERT INTO outbox (msg_id, subject, payload)
      SELECT o.msg_id, o.subject, o.payload
      FROM unnest($27::text[], $28::text[], $29::text[], string_to_array($30::text, chr(31))) AS o (intent_id, msg_id, subject, payload)
      WHERE EXISTS (SELECT FROM done WHERE o.intent_id IS NULL OR done.id = o.intent_id)
    ), lost AS (
      SELECT asked.id FROM unnest($1::text[]) AS asked (id)
      WHERE NOT EXISTS (SELECT FROM done WHERE done.id = asked.id)
    )
    SELECT clock.now, lost.id, EXISTS (
        SELECT FROM unnest($11::text[], $13::text[]) AS n (id, run_id) JOIN runs AS r ON r.id = n.run_id
        WHERE n.id = lost.id AND r.closed_at IS NOT NULL
      ) AS "runClosed"
    FROM clock LEFT JOIN lost ON true`,
};

export interface Appended {
  readonly now: number;
  /** Null when everything was written. */
  readonly id: string | null;
  readonly runClosed: boolean;
}
