export interface OutboxRow {
  msg_id: string;
  subject: string;
  payload: string;
}

/**
 * Messages older than $2 ms, claimed by row, so that relays share the work without a leader; a relay that dies lets go of
 * its rows.
 */
export const claimOutbox = {
  name: 'claim_outbox',
  text: `
    SELECT msg_id, subject, payload FROM outbox
    WHERE created_at <= statement_timestamp() - $2::float8 * interval '1 ms'
    ORDER BY msg_id LIMIT $1 FOR UPDATE SKIP LOCKED`,
};

/** Claimed ones count as well: whoever holds them may be stuck. */
export const oldestOutbox = {
  name: 'oldest_outbox',
  text: `
    SELECT (extract(epoch FROM clock_timestamp() - min(created_at)) * 1000)::float8 AS ms FROM outbox`,
};

/** Rows that a relay has claimed meanwhile are left to it. */
export const deleteOutbox = {
  name: 'delete_outbox',
  text: `
    DELETE FROM outbox WHERE msg_id IN (
      SELECT msg_id FROM outbox WHERE msg_id = ANY ($1::text[]) FOR UPDATE SKIP LOCKED)`,
};
