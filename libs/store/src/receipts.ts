import type { Pool } from 'pg';
import { answering } from './errors.js';
import { claimReceipt } from './sql/claim-receipt.js';

/** Receipts that lookups gave, by tool: each proves the effect of one intent only. */
export class Receipts {
  constructor(private readonly pool: Pool) {}

  /** Remembers whose receipt it is; returns the intent it was given for first. `digest`: sha256 of its canonical form. */
  async claim(tool: string, digest: string, intentId: string): Promise<string> {
    const { rows } = await answering(() =>
      this.pool.query<{ owner: string }>({ ...claimReceipt, values: [tool, digest, intentId] }),
    );
    return rows[0]?.owner ?? intentId;
  }
}
