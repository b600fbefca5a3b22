import type { DecisionPage, RecordedDecision } from '@intendant/contracts';
import type { Pool } from 'pg';
import { answering } from './errors.js';
import { type DecisionRow, listDecisions } from './sql/list-decisions.js';

export interface DecisionFilter {
  /** Those of intents that were made since this moment, in ms since the epoch, or in the last so many ms. */
  readonly since: { readonly at: number } | { readonly forMs: number };
  readonly tenant?: string | undefined;
  readonly tool?: string | undefined;
  /** Id of the last intent of the page before. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/** What admission has decided, as the log tells it. */
export class Decisions {
  constructor(private readonly pool: Pool) {}

  /** Oldest first, by page. */
  async list({ since, tenant, tool, after, limit }: DecisionFilter): Promise<DecisionPage> {
    const [at, forMs] = 'at' in since ? [since.at, null] : [null, since.forMs];
    const values = [at, forMs, after ?? null, tenant ?? null, tool ?? null, limit + 1];
    const { rows } = await answering(() => this.pool.query<DecisionRow>({ ...listDecisions, values }));
    const found = rows.flatMap(toDecision);
    const items = found.slice(0, limit);
    const nextCursor = found.length > limit ? (items.at(-1)?.intentId ?? null) : null;
    return { since: rows[0]?.since ?? '', items, nextCursor };
  }
}

function toDecision({ since: _, intentId, decision, ...row }: DecisionRow): RecordedDecision[] {
  if (intentId === null) return [];
  return [{ intentId, ...row, decision: kinds[decision] ?? 'allow' }];
}

const kinds: Partial<Record<DecisionRow['decision'], RecordedDecision['decision']>> = {
  denied: 'deny',
  approval_requested: 'require_approval',
};
