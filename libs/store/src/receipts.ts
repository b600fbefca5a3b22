import type { Proposal } from '@intendant/intent';
import type { Pool } from 'pg';
import { answering } from './errors.js';
import { claimReceipt } from './sql/claim-receipt.js';

/**
 * Receipts that lookups gave, by tenant and tool, and apart for the sandbox: each proves the effect of one intent only.
 * Tenants may have accounts of their own at the upstream, which count their things alike.
 */
export class Receipts {
  constructor(private readonly pool: Pool) {}

  /** Remembers whose receipt it is; returns the intent it was given for first. `digest`: sha256 of its canonical form. */
  async claim({ tenant, tool, sandbox, intentId }: Proposal, digest: string): Promise<string> {
    const { rows } = await answering(() =>
      this.pool.query<{ owner: string }>({ ...claimReceipt, values: [tenant, tool, sandbox, digest, intentId] }),
    );
    return rows[0]?.owner ?? intentId;
  }
}
