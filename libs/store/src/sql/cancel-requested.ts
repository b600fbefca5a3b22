/** Those of $1 that somebody asked to cancel, unless an operator has had them taken up again since. */
export const cancelRequested = {
  name: 'cancel_requested',
  text: `
    SELECT asked.intent_id AS id FROM events AS asked
    WHERE asked.intent_id = ANY ($1::text[]) AND asked.type = 'cancel_requested' AND NOT EXISTS (
      SELECT FROM events AS later
      WHERE later.intent_id = asked.intent_id AND later.version > asked.version AND later.type = 'replay_requested')`,
};
