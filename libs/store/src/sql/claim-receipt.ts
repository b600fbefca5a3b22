/** Receipt $4 of that tenant, tool and place belongs to intent $5, unless it belonged to another before; returns whose it is. */
export const claimReceipt = {
  name: 'claim_receipt',
  text: `
    INSERT INTO lookup_receipts (tenant, tool, sandbox, digest, intent_id) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (tenant, tool, sandbox, digest) DO UPDATE SET intent_id = lookup_receipts.intent_id
    RETURNING intent_id AS owner`,
};
