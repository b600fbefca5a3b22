/** Receipt $2 of tool $1 belongs to intent $3, unless it belonged to another before; returns whose it is. */
export const claimReceipt = {
  name: 'claim_receipt',
  text: `
    INSERT INTO lookup_receipts (tool, digest, intent_id) VALUES ($1, $2, $3)
    ON CONFLICT (tool, digest) DO UPDATE SET intent_id = lookup_receipts.intent_id
    RETURNING intent_id AS owner`,
};
