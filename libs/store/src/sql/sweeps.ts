// The time of the statement, not of the clock: it stands still while the statement runs, so that the index serves.

/** Takes intents of state $1 whose time has come, not of tools $4, for $3 ms: other sweepers pass them by meanwhile. */
export const claimDue = {
  name: 'claim_due',
  text: `
    UPDATE intents AS i
    SET wake_at = statement_timestamp() + $3::float8 * interval '1 ms'
    FROM (
      SELECT id FROM intents
      WHERE state = $1 AND wake_at <= statement_timestamp() AND tool <> ALL ($4::text[])
      ORDER BY wake_at LIMIT $2 FOR UPDATE SKIP LOCKED
    ) AS due
    WHERE i.id = due.id
    RETURNING i.id, i.tool, (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now`,
};

/** Intent $2 of state $1 is due again; if its state or its time has changed meanwhile, it is looked at once too early. */
export const giveBack = {
  name: 'give_back',
  text: 'UPDATE intents SET wake_at = statement_timestamp() WHERE id = $2 AND state = $1 AND wake_at IS NOT NULL',
};

const unheard = (state: string) => `SELECT id FROM (
        SELECT id FROM intents
        WHERE state = '${state}' AND wake_at <= statement_timestamp() AND expires_at > statement_timestamp()
        ORDER BY wake_at LIMIT $1 FOR UPDATE SKIP LOCKED
      ) AS ${state}`;

/**
 * Authorized intents that nobody picked up, and those that wait for people and for a dispatcher. The longer one has been waiting, the later it is taken again: from $2 ms
 * up to a minute, so that a long backlog costs little. Those whose authority has ended are left to claimExpired.
 */
export const claimUnheard = {
  name: 'claim_unheard',
  text: `
    UPDATE intents AS i
    SET wake_at = least(i.expires_at, statement_timestamp()
      + least(greatest($2::float8 * interval '1 ms', statement_timestamp() - i.since), interval '1 minute'))
    FROM (
      ${unheard('authorized')} UNION ALL ${unheard('awaiting_approval')}
    ) AS due
    WHERE i.id = due.id
    RETURNING i.id, i.version, i.tool, i.tool_version AS "toolVersion", i.sandbox`,
};

/** Intents whose authority, or the approval that they wait for, has ended; they are due then, so that no others have to be looked at. */
export const claimExpired = {
  name: 'claim_expired',
  text: `
    SELECT id FROM intents
    WHERE state IN ('authorized', 'awaiting_approval') AND wake_at <= statement_timestamp()
      AND expires_at <= statement_timestamp()
    ORDER BY wake_at LIMIT $1`,
};

/** Of all tools; the second condition is true of each and leads to the index. */
export const oldestUnknown = {
  name: 'oldest_unknown',
  text: `
    SELECT (extract(epoch FROM clock_timestamp() - min(since)) * 1000)::float8 AS ms FROM intents
    WHERE state = 'unknown' AND wake_at IS NOT NULL`,
};

/**
 * Up to $1 identifiers of runs that were opened two days ago or earlier: none lives that long. Ids of runs begin with the time
 * they were made at.
 */
export const pruneYields = {
  name: 'prune_yields',
  text: `
    DELETE FROM yields WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM yields WHERE run_id < 'run_' || intent_id_at(statement_timestamp() - interval '2 days') LIMIT $1))`,
};

/** One doorbell for all that are named. */
export const insertDoorbell = {
  name: 'insert_doorbell',
  text: 'INSERT INTO outbox (msg_id, subject, payload) VALUES ($1, $2, $3)',
};
