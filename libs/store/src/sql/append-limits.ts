/** Buckets of rates, and grants, that the batch asks for; locked in this order, after the runs. */
export const tokens = `
  wanted AS (
    SELECT * FROM unnest(@bucketIds::text[], @bucketIntents::text[], @bucketRates::float8[], @bucketCapacities::float8[])
      AS w (id, intent_id, per_ms, capacity)
  ), bucket AS MATERIALIZED (
    SELECT b.id, greatest(b.at, to_timestamp(clock.now / 1000)) AS at,
      least(d.capacity, b.tokens + greatest(0, clock.now - extract(epoch FROM b.at)::float8 * 1000) * d.per_ms) AS tokens, d.wanted
    FROM clock, (SELECT id, max(per_ms) AS per_ms, max(capacity) AS capacity, count(*) AS wanted FROM wanted GROUP BY id) AS d,
      rate_buckets AS b
    WHERE b.id = d.id AND (SELECT count(*) FROM run) >= 0
    ORDER BY b.id FOR NO KEY UPDATE OF b
  ), granted AS MATERIALIZED (
    SELECT g.* FROM grants AS g
    WHERE g.id = ANY (@grantIds::text[] || @grantedGrants::text[]) AND (SELECT count(*) FROM bucket) >= 0
    ORDER BY g.id FOR NO KEY UPDATE
  )`;

/** Of an intent that is new: its buckets have tokens, and its grant is as it was counted. */
export const withinTokens = `
      AND NOT EXISTS (
        SELECT FROM wanted AS w LEFT JOIN bucket AS b ON b.id = w.id
        WHERE w.intent_id = n.id AND b.tokens >= b.wanted IS NOT TRUE)
      AND (SELECT count(*) FROM granted) >= 0
      AND (n.grant_id IS NULL OR EXISTS (
        SELECT FROM granted AS g
        WHERE g.id = n.grant_id AND g.stamp = n.grant_stamp AND g.revoked_at IS NULL AND g.expires_at > clock_timestamp()))`;

/** Attempts that may not start: their run is not in a phase of the tool, or their grant is over. */
export const stopped = `
  out_of_phase AS (
    SELECT s.intent_id FROM unnest(@phasedIds::text[], @phasedRuns::text[], @phases::text[]) AS s (intent_id, run_id, phases)
    JOIN runs AS r ON r.id = s.run_id
    WHERE (r.phase = ANY (string_to_array(s.phases, ','))) IS NOT TRUE
  ), grant_over AS MATERIALIZED (
    SELECT s.intent_id FROM unnest(@grantedIds::text[], @grantedGrants::text[]) AS s (intent_id, grant_id)
    LEFT JOIN granted AS g ON g.id = s.grant_id
    WHERE (g.revoked_at IS NULL AND g.expires_at > clock_timestamp()) IS NOT TRUE
  )`;

export const notStopped = `
      AND (SELECT count(*) FROM granted) >= 0
      AND NOT EXISTS (SELECT FROM out_of_phase AS p WHERE p.intent_id = i.id)
      AND NOT EXISTS (SELECT FROM grant_over AS v WHERE v.intent_id = i.id)`;

/** What was written has its tokens and grants, and its run has the identifiers that it found. */
export const taken = `
  spent AS (
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
    FROM unnest(@yieldIntents::text[], @yieldRuns::text[], @yieldDigests::text[], @yieldSources::text[])
      AS y (intent_id, run_id, digest, source)
    JOIN done ON done.id = y.intent_id
    ON CONFLICT DO NOTHING
  )`;
