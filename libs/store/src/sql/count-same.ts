/** How many calls of a run ($1) without a step have the tool ($2), arguments (by fingerprint, $3) and sandbox ($4) of one. */
export const countSame = {
  name: 'count_same',
  text: `
    SELECT count(*)::int AS count FROM intents
    WHERE run_id = $1 AND tool = $2 AND fingerprint = $3 AND sandbox = $4 AND step_id IS NULL`,
};
