import type { Facts, Other, Past, StandingGrant } from '@intendant/contracts';
import {
  type Holdings,
  holdingsOf,
  type Intent,
  isHeld,
  type Proposal,
  sumOfHoldings,
  takenBy,
} from '@intendant/intent';
import type { Pool } from 'pg';
import type { Admission, Expected } from './facts.js';
import type { AlikeRow, FactsRow, GrantRow, OpenRow, RunFactsRow } from './sql/load-facts.js';
import { fillBuckets, letGo, loadFacts, longestArgs } from './sql/load-facts.js';

/** A record that is to be decided on facts. */
export interface Asked {
  readonly admission: Pick<Admission, 'claim'>;
  readonly operation: string | null;
  readonly likeness: string | null;
}

interface Account {
  readonly row: RunFactsRow;
  used: Holdings;
  denied: number;
  readonly past: Past[];
}

/**
 * The facts that the decisions of one transaction go by, carried forward from one to the next: what one of them takes is
 * not there for those after it.
 */
export class Book {
  private readonly accounts = new Map<string, Account>();
  private readonly holders: Map<string, Other>;
  private readonly alike = new Map<string, AlikeRow>();
  private readonly tokens = new Map<string, number>();
  private readonly grants: Map<string, GrantRow>;
  private readonly found = new Map<string, Map<string, Set<string>>>();
  private readonly open: OpenRow[];

  /** As of now, for everything these ask about, as if there were no intents `besides`. */
  static async load(pool: Pool, asked: readonly Asked[], besides: readonly string[] = []): Promise<Book> {
    const claims = asked.map(({ admission }) => admission.claim);
    const rates = new Map(claims.flatMap((claim) => claim.rates.map((rate) => [rate.id, rate] as const)));
    const operations = asked.flatMap(({ operation }) => operation ?? []);
    const alike = asked.flatMap(({ likeness, admission: { claim } }) =>
      likeness === null || claim.alikeForMs === null ? [] : [{ likeness, forMs: claim.alikeForMs }],
    );
    const seeking = claims.filter((claim) => claim.identifiers.length > 0);
    const granting = new Map(
      claims.flatMap(({ grantsFor }) =>
        grantsFor ? [[`${grantsFor.tenant} ${grantsFor.tool}`, grantsFor] as const] : [],
      ),
    );
    const unique = (list: readonly string[]) => [...new Set(list)];
    const values = [
      unique(claims.map(({ runId }) => runId)),
      unique(claims.filter(({ past }) => past).map(({ runId }) => runId)),
      unique(operations),
      [...rates.keys()],
      alike.map(({ likeness }) => likeness),
      alike.map(({ forMs }) => forMs),
      unique(seeking.map(({ runId }) => runId)),
      unique(seeking.flatMap(({ identifiers }) => identifiers)),
      unique(claims.flatMap(({ gist }) => gist ?? [])),
      [...granting.values()].map(({ tenant }) => tenant),
      [...granting.values()].map(({ tool }) => tool),
      besides,
    ];
    const { rows } = await pool.query<FactsRow>({ ...loadFacts, values });
    const row = rows[0] as FactsRow;
    const filled = new Set(row.buckets?.map(({ id }) => id));
    const missing = [...rates.values()].filter(({ id }) => !filled.has(id));
    if (missing.length > 0) {
      const full = [missing.map(({ id }) => id), missing.map(({ capacity }) => capacity)];
      await pool.query({ ...fillBuckets, values: full });
    }
    const over = row.operations?.filter(({ until }) => until <= row.now).map(({ operation }) => operation) ?? [];
    if (over.length > 0) await pool.query({ ...letGo, values: [over] });
    const book = new Book(row);
    for (const { id, perMs, capacity } of rates.values()) {
      const bucket = row.buckets?.find((each) => each.id === id);
      const tokens = bucket ? bucket.tokens + Math.max(0, row.now - bucket.at) * perMs : capacity;
      book.tokens.set(id, Math.min(capacity, tokens));
    }
    return book;
  }

  private constructor(private readonly row: FactsRow) {
    for (const run of row.runs ?? []) {
      this.accounts.set(run.id, { row: run, used: usedBy(run), denied: run.denied, past: [...(run.past ?? [])] });
    }
    this.holders = new Map(
      row.operations?.flatMap((each) => (each.until > row.now ? [[each.operation, each] as const] : [])),
    );
    for (const each of row.alike ?? []) this.alike.set(each.likeness, each);
    for (const { runId, digest, source } of row.yields ?? []) {
      const ofRun = this.found.get(runId) ?? new Map<string, Set<string>>();
      this.found.set(runId, ofRun.set(digest, (ofRun.get(digest) ?? new Set()).add(source)));
    }
    this.grants = new Map(row.grants?.map((grant) => [grant.id, grant] as const));
    this.open = [...(row.open ?? [])];
  }

  get now(): number {
    return this.row.now;
  }

  /** Whether it is about this run. */
  covers(runId: string): boolean {
    return this.accounts.has(runId);
  }

  factsFor({ admission: { claim }, operation, likeness }: Asked): Facts {
    const account = this.accounts.get(claim.runId);
    return {
      now: this.now,
      run: account ? runOf(account) : null,
      holder: operation === null ? null : (this.holders.get(operation) ?? null),
      tokens: this.tokens,
      alike: likeness === null ? null : (this.alike.get(likeness) ?? null),
      found: this.found.get(claim.runId) ?? new Map(),
      refused: this.row.refused?.find(({ gist }) => gist === claim.gist) ?? null,
      grants: this.grantsFor(claim),
      open: this.open.filter(({ runId }) => runId === claim.runId),
    };
  }

  private grantsFor({ grantsFor }: Admission['claim']): StandingGrant[] {
    if (grantsFor === null) return [];
    return [...this.grants.values()].filter(
      ({ tenant, tool }) => tenant === grantsFor.tenant && tool === grantsFor.tool,
    );
  }

  /** What a new intent takes. */
  add(intent: Intent, { claim }: Admission): void {
    const { proposal, state } = intent;
    const account = this.accounts.get(claim.runId);
    if (account) {
      account.used = sumOfHoldings(account.used, holdingsOf(intent));
      account.denied += state === 'denied' ? 1 : 0;
      account.past.unshift(pastOf(intent, this.now));
    }
    if (state === 'denied') return;
    this.useGrant(proposal);
    const { intentId, runId, tool, fingerprint, sandbox, gist = null, operation, likeness } = proposal;
    this.open.push({ runId, intentId, tool, fingerprint, sandbox, gist, state });
    if (operation) this.holders.set(operation.digest, { intentId, runId, state });
    if (likeness) this.alike.set(likeness, { likeness, intentId, runId, state, at: this.now });
    for (const { id } of claim.rates) this.tokens.set(id, (this.tokens.get(id) ?? 0) - 1);
  }

  private useGrant(proposal: Proposal): void {
    const row = this.grants.get(proposal.grant ?? '');
    if (!row) return;
    const costLeft = row.costLeft === null ? null : row.costLeft - takenBy(proposal).cost;
    this.grants.set(row.id, { ...row, usesLeft: row.usesLeft - 1, costLeft });
  }

  /** When the uses of a grant were counted; null where it is not about it. */
  stampOf(grant: string | undefined): number | null {
    return grant === undefined ? null : (this.grants.get(grant)?.stamp ?? null);
  }

  /** What the intents of a run took when they were counted; null where it is not about this run. */
  countOf(runId: string): Pick<Expected, 'stamp' | 'used'> | null {
    const account = this.accounts.get(runId);
    return account ? { stamp: account.row.stamp, used: usedBy(account.row) } : null;
  }
}

function usedBy({ calls, mutating, destructive, cost }: RunFactsRow): Holdings {
  return { calls, mutating, destructive, cost };
}

function runOf({ row, used, denied, past }: Account): NonNullable<Facts['run']> {
  const {
    revision,
    phase,
    closed,
    taintedBy,
    openedAt,
    actsUntil,
    expiresAt,
    maxCalls,
    maxMutating,
    maxDestructive,
    maxCost,
  } = row;
  return {
    ...{ revision, phase, closed, taintedBy, openedAt, actsUntil, expiresAt, used, denied, past },
    budgets: { calls: maxCalls, mutating: maxMutating, destructive: maxDestructive, costMicros: maxCost },
  };
}

/** As it will be loaded the next time. */
function pastOf(intent: Intent, at: number): Past {
  const { tool, terms, args, sandbox } = intent.proposal;
  const short = Buffer.byteLength(JSON.stringify(args)) <= longestArgs;
  const { cost } = holdingsOf(intent);
  return {
    tool,
    effect: terms.effect,
    state: intent.state,
    held: isHeld(intent),
    sandbox,
    cost,
    at,
    args: short ? args : null,
  };
}
