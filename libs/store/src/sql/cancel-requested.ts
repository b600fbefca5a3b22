/** Those of $1 that somebody asked to cancel. */
export const cancelRequested = {
  name: 'cancel_requested',
  text: "SELECT intent_id AS id FROM events WHERE intent_id = ANY ($1::text[]) AND type = 'cancel_requested'",
};
