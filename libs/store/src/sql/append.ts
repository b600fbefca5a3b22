import { clockToleranceMs, mostDenied } from '@intendant/contracts';

/**
 * Between the values of a column that holds JSON texts, which never contain a control character: an array of them would
 * have to be escaped, text by text, and that costs more than everything else about a statement.
 */
export const jsonSeparator = '\x1f';

/** More than this a run cannot have spent, in millionths: the column holds no more. */
const mostCost = '9000000000000000000';

/**
 * The whole transaction of the door in one statement: read-model rows compared and set by version, then, only for
 * those that were still at the expected version, their events and messages. Nothing is written when the time of the
 * decisions ($26) is not the time of the database.
 *
 * An intent that is new is recorded only when its run is as it was when that was decided (`expected`: revision and, if
 * the decision went by what the run has done, stamp), when what all new intents of the batch take of it fits into its
 * limits, when its buckets have a token for each, and when nobody has taken of its grant or revoked it since that was
 * counted; several of one run, bucket or grant go together. Rows of runs, then of buckets, then of grants are locked in the order of their ids before anything is written, so that replicas wait for one another and
 * not in a circle, and what is compared is the newest there is.
 *
 * Returns the time, and beside it the intents that were not written, if any: somebody else moved them, recorded their
 * key or their operation first, closed or changed their run, took it to another phase, used up
 * what they needed, or revoked their grant. Their neighbours are not
 * affected.
 */
export const append = {
  name: 'append',
  text: `
    WITH clock AS MATERIALIZED (
      SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now
    ), charge AS (
      SELECT * FROM unnest($37::text[], $38::text[], $39::int[], $40::int[], $41::int[], $42::float8[], $43::boolean[], $44::boolean[],
        $64::int[], $66::boolean[])
        AS g (intent_id, run_id, calls, mutating, destructive, cost, fresh, taints, denied, refuses)
    ), run AS MATERIALIZED (
      SELECT r.* FROM runs AS r
      WHERE r.id = ANY ($38::text[] || $45::text[])
      ORDER BY r.id FOR NO KEY UPDATE
    ), account AS MATERIALIZED (
      SELECT u.*,
        u.closed OR u.revision <> u.expected_revision OR (u.exact AND u.stamp <> u.expected_stamp)
          OR (d.calls > 0 AND (u.calls + d.calls > u.max_calls
            OR (to_timestamp(clock.now / 1000) >= u.acts_until AND to_timestamp(clock.now / 1000) < u.expires_at)))
          OR (d.mutating > 0 AND u.mutating + d.mutating > u.max_mutating)
          OR (d.destructive > 0 AND u.destructive + d.destructive > u.max_destructive)
          OR (d.cost > 0 AND u.cost + d.cost > u.max_cost)
          OR (d.denied > 0 AND u.denied + d.denied > ${mostDenied}) AS unfit
      FROM clock, (
        -- What was counted anew is right as long as the run has done nothing since; the counters are never too small.
        SELECT r.id, r.stamp, r.revision, r.tainted_by, r.refused, r.denied, r.closed_at IS NOT NULL AS closed, r.acts_until, r.expires_at,
          r.max_calls, r.max_mutating, r.max_destructive, r.max_cost,
          x.exact, x.revision AS expected_revision, x.stamp AS expected_stamp,
          CASE WHEN x.stamp = r.stamp THEN x.calls ELSE r.calls END AS calls,
          CASE WHEN x.stamp = r.stamp THEN x.mutating ELSE r.mutating END AS mutating,
          CASE WHEN x.stamp = r.stamp THEN x.destructive ELSE r.destructive END AS destructive,
          CASE WHEN x.stamp = r.stamp THEN x.cost ELSE r.cost END AS cost
        FROM run AS r
        LEFT JOIN unnest($45::text[], $46::int[], $47::bigint[], $48::int[], $49::int[], $50::int[], $51::bigint[], $65::boolean[])
          AS x (id, revision, stamp, calls, mutating, destructive, cost, exact) ON x.id = r.id
      ) AS u
      LEFT JOIN (
        SELECT run_id, sum(calls) AS calls, sum(mutating) AS mutating, sum(destructive) AS destructive, sum(cost) AS cost,
          sum(denied) AS denied
        FROM charge WHERE fresh GROUP BY run_id
      ) AS d ON d.run_id = u.id
    ), wanted AS (
      SELECT * FROM unnest($52::text[], $53::text[], $54::float8[], $55::float8[]) AS w (id, intent_id, per_ms, capacity)
    ), bucket AS MATERIALIZED (
      SELECT b.id, greatest(b.at, to_timestamp(clock.now / 1000)) AS at,
        least(d.capacity, b.tokens + greatest(0, clock.now - extract(epoch FROM b.at)::float8 * 1000) * d.per_ms) AS tokens, d.wanted
      FROM clock, (SELECT id, max(per_ms) AS per_ms, max(capacity) AS capacity, count(*) AS wanted FROM wanted GROUP BY id) AS d,
        rate_buckets AS b
      WHERE b.id = d.id AND (SELECT count(*) FROM run) >= 0
      ORDER BY b.id FOR NO KEY UPDATE OF b
    ), granted AS MATERIALIZED (
      SELECT g.* FROM grants AS g
      WHERE g.id = ANY ($68::text[] || $71::text[]) AND (SELECT count(*) FROM bucket) >= 0
      ORDER BY g.id FOR NO KEY UPDATE
    ), change AS (
      SELECT c.* FROM clock, unnest($1::text[], $2::int[], $3::int[], $4::text[], $5::int[], $6::text[], $7::float8[], $8::float8[],
        $9::float8[], $10::float8[], $32::int[], $33::float8[], $34::boolean[], $35::text[], $36::float8[])
        AS c (id, expected, version, state, attempts, reason, lease_until, wake_at, expires_at, since, calls, cost, held, operation,
          operation_ms)
      WHERE abs(clock.now - $26::float8) <= ${clockToleranceMs}
    ), fresh AS (
      INSERT INTO intents (id, tenant, run_id, step_id, tool, tool_version, effect, key, fingerprint, sandbox,
        state, version, attempts, reason, lease_until, wake_at, expires_at, recorded_at, since, calls, cost, held, operation,
        operation_until, likeness, gist, grant_id)
      SELECT c.id, n.tenant, n.run_id, n.step_id, n.tool, n.tool_version, n.effect, n.key, n.fingerprint, n.sandbox,
        c.state, c.version, c.attempts, c.reason, to_timestamp(c.lease_until / 1000), to_timestamp(c.wake_at / 1000),
        to_timestamp(c.expires_at / 1000), to_timestamp(c.since / 1000), to_timestamp(c.since / 1000), c.calls, c.cost, c.held,
        c.operation, to_timestamp((c.since + c.operation_ms) / 1000), n.likeness, n.gist, n.grant_id
      FROM unnest($11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::int[], $17::text[], $18::text[], $19::text[],
        $31::boolean[], $56::text[], $67::text[], $68::text[], $69::bigint[])
        AS n (id, tenant, run_id, step_id, tool, tool_version, effect, key, fingerprint, sandbox, likeness, gist, grant_id, grant_stamp)
      JOIN change AS c ON c.id = n.id
      WHERE NOT EXISTS (SELECT FROM account AS a WHERE a.id = n.run_id AND a.unfit)
        AND NOT EXISTS (
          SELECT FROM wanted AS w LEFT JOIN bucket AS b ON b.id = w.id
          WHERE w.intent_id = n.id AND b.tokens >= b.wanted IS NOT TRUE)
        AND (SELECT count(*) FROM granted) >= 0
        AND (n.grant_id IS NULL OR EXISTS (
          SELECT FROM granted AS g
          WHERE g.id = n.grant_id AND g.stamp = n.grant_stamp AND g.revoked_at IS NULL AND g.expires_at > clock_timestamp()))
        -- Nobody knows how the same call of this run ended, or people are asked about it: it is not made again, whatever its step.
        AND NOT EXISTS (
          SELECT FROM intents AS u
          WHERE u.run_id = n.run_id AND u.state IN ('awaiting_approval', 'unknown', 'accepted', 'dead_lettered') AND c.held
            AND u.tool = n.tool AND u.fingerprint = n.fingerprint AND u.sandbox = n.sandbox
            AND (n.effect <> 'read' OR u.state = 'awaiting_approval'))
      -- Whoever waits for another one's operation or key does so in the same order.
      ORDER BY c.operation NULLS FIRST, n.key
      ON CONFLICT DO NOTHING
      RETURNING id, grant_id
    ), out_of_phase AS (
      SELECT s.intent_id FROM unnest($61::text[], $62::text[], $63::text[]) AS s (intent_id, run_id, phases)
      JOIN runs AS r ON r.id = s.run_id
      WHERE (r.phase = ANY (string_to_array(s.phases, ','))) IS NOT TRUE
    ), grant_over AS MATERIALIZED (
      SELECT s.intent_id FROM unnest($70::text[], $71::text[]) AS s (intent_id, grant_id)
      LEFT JOIN granted AS g ON g.id = s.grant_id
      WHERE (g.revoked_at IS NULL AND g.expires_at > clock_timestamp()) IS NOT TRUE
    ), moved AS (
      UPDATE intents AS i
      SET state = c.state, version = c.version, attempts = c.attempts, reason = c.reason,
        lease_until = to_timestamp(c.lease_until / 1000), wake_at = to_timestamp(c.wake_at / 1000),
        expires_at = to_timestamp(c.expires_at / 1000), since = to_timestamp(c.since / 1000),
        calls = c.calls, cost = c.cost, held = c.held,
        operation = CASE
          WHEN c.operation IS NULL OR i.held THEN CASE WHEN c.held THEN i.operation END
          -- It did happen after all; whoever has taken the operation meanwhile keeps it.
          WHEN NOT EXISTS (SELECT FROM intents AS o WHERE o.operation = c.operation) THEN c.operation
        END
      FROM change AS c
      WHERE i.id = c.id AND i.version = c.expected AND c.expected > 0 AND (SELECT count(*) FROM granted) >= 0
        AND NOT EXISTS (SELECT FROM out_of_phase AS p WHERE p.intent_id = i.id)
        AND NOT EXISTS (SELECT FROM grant_over AS v WHERE v.intent_id = i.id)
      RETURNING i.id
    ), done AS (
      SELECT id FROM fresh UNION ALL SELECT id FROM moved
    ), charged AS (
      UPDATE runs AS r
      SET calls = a.calls + g.calls, mutating = a.mutating + g.mutating, destructive = a.destructive + g.destructive,
        cost = least(a.cost + g.cost, ${mostCost}), denied = a.denied + g.denied, stamp = a.stamp + 1,
        tainted_by = coalesce(a.tainted_by, g.tainted_by), refused = a.refused OR g.refuses,
        revision = r.revision + CASE WHEN g.refuses OR (a.tainted_by IS NULL AND g.tainted_by IS NOT NULL) THEN 1 ELSE 0 END
      FROM account AS a
      JOIN (
        SELECT run_id, sum(calls) AS calls, sum(mutating) AS mutating, sum(destructive) AS destructive, sum(cost) AS cost,
          sum(denied) AS denied, min(intent_id) FILTER (WHERE taints) AS tainted_by, bool_or(refuses) AS refuses
        FROM charge JOIN done ON done.id = charge.intent_id GROUP BY run_id
      ) AS g ON g.run_id = a.id
      WHERE r.id = a.id
    ), spent AS (
      UPDATE rate_buckets AS b
      SET tokens = k.tokens - s.spent, at = k.at
      FROM bucket AS k
      JOIN (SELECT w.id, count(*) AS spent FROM wanted AS w JOIN fresh ON fresh.id = w.intent_id GROUP BY w.id) AS s ON s.id = k.id
      WHERE b.id = k.id
    ), used AS (
      UPDATE grants AS g SET stamp = g.stamp + 1 FROM granted AS k
      WHERE g.id = k.id AND EXISTS (SELECT FROM fresh WHERE fresh.grant_id = k.id)
    ), found AS (
      INSERT INTO yields (run_id, digest, source)
      SELECT y.run_id, y.digest, y.source
      FROM unnest($57::text[], $58::text[], $59::text[], $60::text[]) AS y (intent_id, run_id, digest, source)
      JOIN done ON done.id = y.intent_id
      ON CONFLICT DO NOTHING
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
      ) AS "runClosed",
      EXISTS (SELECT FROM out_of_phase AS p WHERE p.intent_id = lost.id) AS "outOfPhase",
      EXISTS (SELECT FROM grant_over AS v WHERE v.intent_id = lost.id) AS "grantOver"
    FROM clock LEFT JOIN lost ON true`,
};

export interface Appended {
  readonly now: number;
  /** Null when everything was written. */
  readonly id: string | null;
  readonly runClosed: boolean;
  /** Its attempt may not start: the run is not in a phase of the tool. */
  readonly outOfPhase: boolean;
  /** Its attempt may not start: its grant was revoked, or its time is over. */
  readonly grantOver: boolean;
}
