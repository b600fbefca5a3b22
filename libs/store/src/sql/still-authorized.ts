/** Those of $1 that still wait for an attempt, by the read model. */
export const stillAuthorized = {
  name: 'still_authorized',
  text: "SELECT id FROM intents WHERE id = ANY ($1::text[]) AND state IN ('authorized', 'awaiting_approval')",
};
