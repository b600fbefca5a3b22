export interface OutboxRow {
  position: string;
  msg_id: string;
  subject: string;
  payload: string;
}

/** Claimed by row, so that relays share the work without a leader; a relay that dies lets go of its rows. */
export const claimOutbox = {
  name: 'claim_outbox',
  text: 'SELECT position, msg_id, subject, payload FROM outbox ORDER BY position LIMIT $1 FOR UPDATE SKIP LOCKED',
};

export const deleteOutbox = {
  name: 'delete_outbox',
  text: 'DELETE FROM outbox WHERE position = ANY ($1::bigint[])',
};
