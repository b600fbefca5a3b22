import { mostDenied } from '@intendant/contracts';

/** More than this a run cannot have spent, in millionths: the column holds no more. */
const mostCost = '9000000000000000000';

/** What the batch takes of runs, and which of these it does not fit into; they are locked, so it is the newest there is. */
export const accounts = `
  charge AS (
    SELECT * FROM unnest(@chargeIds::text[], @chargeRuns::text[], @chargeCalls::int[], @chargeMutating::int[],
      @chargeDestructive::int[], @chargeCosts::float8[], @chargeFresh::boolean[], @chargeTaints::boolean[],
      @chargeDenied::int[], @chargeRefuses::boolean[])
      AS g (intent_id, run_id, calls, mutating, destructive, cost, fresh, taints, denied, refuses)
  ), run AS MATERIALIZED (
    SELECT r.* FROM runs AS r
    WHERE r.id = ANY (@chargeRuns::text[] || @accountRuns::text[])
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
      SELECT r.id, r.stamp, r.revision, r.tainted_by, r.refused, r.denied, r.closed_at IS NOT NULL AS closed,
        r.acts_until, r.expires_at, r.max_calls, r.max_mutating, r.max_destructive, r.max_cost,
        x.exact, x.revision AS expected_revision, x.stamp AS expected_stamp,
        CASE WHEN x.stamp = r.stamp THEN x.calls ELSE r.calls END AS calls,
        CASE WHEN x.stamp = r.stamp THEN x.mutating ELSE r.mutating END AS mutating,
        CASE WHEN x.stamp = r.stamp THEN x.destructive ELSE r.destructive END AS destructive,
        CASE WHEN x.stamp = r.stamp THEN x.cost ELSE r.cost END AS cost
      FROM run AS r
      LEFT JOIN unnest(@accountRuns::text[], @accountRevisions::int[], @accountStamps::bigint[], @accountCalls::int[],
        @accountMutating::int[], @accountDestructive::int[], @accountCosts::bigint[], @accountExact::boolean[])
        AS x (id, revision, stamp, calls, mutating, destructive, cost, exact) ON x.id = r.id
    ) AS u
    LEFT JOIN (
      SELECT run_id, sum(calls) AS calls, sum(mutating) AS mutating, sum(destructive) AS destructive, sum(cost) AS cost,
        sum(denied) AS denied
      FROM charge WHERE fresh GROUP BY run_id
    ) AS d ON d.run_id = u.id
  )`;

/** What was written counts in its runs. */
export const charged = `
  charged AS (
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
  )`;
