import { type Budgets, type Facts, noBudgets, type Restriction } from '@intendant/contracts';
import { type Holdings, noHoldings } from '@intendant/intent';
import { Coalescer } from '@intendant/runtime';
import type { Pool } from 'pg';
import { Book } from './book.js';
import { answering } from './errors.js';
import { closeRun, countUsed, enterPhase, findRuns, openRuns, type RunRow } from './sql/runs.js';

/** What a run is opened with. */
export interface NewRun {
  readonly id: string;
  readonly tenant: string;
  readonly user: string;
  readonly profile: 'interactive' | 'batch';
  readonly permissions: readonly string[];
  readonly phase: string | null;
  /** Name of the service key that opened it. */
  readonly openedBy: string;
  readonly sandbox?: boolean;
  readonly restrictions?: readonly Restriction[];
  readonly budgets?: Budgets;
}

export interface Run extends Required<Omit<NewRun, 'budgets'>> {
  readonly budgets: Omit<Budgets, 'wallClockMs'>;
  /** Until when it may propose, in ms since the epoch; null: as long as it lives. */
  readonly actsUntil: number | null;
  /** Ms since the epoch. */
  readonly openedAt: number;
  readonly expiresAt: number;
  readonly closed: boolean;
  /** Raised by whatever changes what the run may do. */
  readonly revision: number;
  /** Id of the intent by which the run has read text from outside; null: it has not. */
  readonly taintedBy: string | null;
  /** A person has refused something in it. */
  readonly refused: boolean;
}

/** As the statement names its fields. */
type RunToOpen = Required<Omit<NewRun, 'budgets'>> & Budgets & { readonly ttlMs: number };

/** Of a run its past, and nothing else. */
const nothingAsked = {
  ...{ revision: null, rates: [], alikeForMs: null, identifiers: [], gist: null, grantsFor: null },
  ...{ past: true, exact: false },
};

/** Open runs that are remembered. */
const maxOpen = 10_000;

/** The trusted side's record of who acts with which authority. */
export class Runs {
  private readonly opening: Coalescer<RunToOpen, Run>;
  private readonly loads: Coalescer<string, Run | null>;
  private readonly remembered = new Map<string, Run>();

  constructor(private readonly pool: Pool) {
    this.opening = new Coalescer((runs) => this.openMany(runs), 100, 2);
    this.loads = new Coalescer((ids) => this.findMany(ids), 256, 2);
  }

  /** Opens a run that lives `ttlMs`, counted on the database clock. Many calls at once share one statement. */
  open(run: NewRun, ttlMs: number): Promise<Run> {
    const { id, tenant, user, profile, permissions, phase, openedBy } = run;
    const { sandbox = false, restrictions = [], budgets = noBudgets } = run;
    const { calls, mutating, destructive, costMicros, wallClockMs } = budgets;
    return this.opening.request({
      ...{ id, tenant, user, profile, permissions, phase, openedBy, ttlMs, sandbox, restrictions },
      ...{ calls, mutating, destructive, costMicros, wallClockMs },
    });
  }

  /** Many calls at once share one query. */
  find(id: string): Promise<Run | null> {
    return this.loads.request(id);
  }

  /**
   * As `find`, from memory where the run was open when it was last seen. It may have been changed or closed since: the
   * door records nothing in it then that was decided on this.
   */
  async recall(id: string): Promise<Run | null> {
    const known = this.remembered.get(id);
    if (known) return known;
    const run = await this.find(id);
    if (run === null || run.closed) return run;
    if (this.remembered.size >= maxOpen) this.remembered.clear();
    this.remembered.set(id, run);
    return run;
  }

  /** Is looked up again when it is needed next. */
  forget(id: string): void {
    this.remembered.delete(id);
  }

  /** What its intents take of its budgets. */
  async used(id: string): Promise<Holdings> {
    const { rows } = await answering(() => this.pool.query<Holdings>({ ...countUsed, values: [id] }));
    return rows[0] ?? noHoldings;
  }

  /** What its intents have done and take now, all but one of them. */
  async factsBeside(intentId: string, runId: string): Promise<Facts> {
    const asked = { admission: { claim: { ...nothingAsked, runId } }, operation: null, likeness: null };
    return (await answering(() => Book.load(this.pool, [asked], [intentId]))).factsFor(asked);
  }

  /** True when it is closed afterwards; false where there is no such run of this tenant. */
  async close(id: string, tenant: string): Promise<boolean> {
    this.forget(id);
    const { rowCount } = await answering(() => this.pool.query({ ...closeRun, values: [id, tenant] }));
    return rowCount === 1;
  }

  /** The run in its new phase, from the next decision on; null where there is no such open run of this tenant. */
  async enter(id: string, tenant: string, phase: string | null): Promise<Run | null> {
    this.forget(id);
    const values = [id, tenant, phase];
    const { rows } = await answering(() => this.pool.query<RunRow>({ ...enterPhase, values }));
    return rows[0] ? toRun(rows[0]) : null;
  }

  private async openMany(runs: readonly RunToOpen[]): Promise<Run[]> {
    const values = [JSON.stringify(runs)];
    const { rows } = await answering(() => this.pool.query<RunRow>({ ...openRuns, values }));
    const byId = new Map(rows.map((row) => [row.id, toRun(row)]));
    return runs.map(({ id }) => byId.get(id) as Run);
  }

  private async findMany(ids: readonly string[]): Promise<(Run | null)[]> {
    const { rows } = await answering(() => this.pool.query<RunRow>({ ...findRuns, values: [[...new Set(ids)]] }));
    const byId = new Map(rows.map((row) => [row.id, toRun(row)]));
    return ids.map((id) => byId.get(id) ?? null);
  }
}

function toRun(row: RunRow): Run {
  const { openedAt, expiresAt, closedAt, actsUntil, maxCalls, maxMutating, maxDestructive, maxCost, ...rest } = row;
  return {
    ...rest,
    budgets: { calls: maxCalls, mutating: maxMutating, destructive: maxDestructive, costMicros: maxCost },
    actsUntil: actsUntil?.getTime() ?? null,
    openedAt: openedAt.getTime(),
    expiresAt: expiresAt.getTime(),
    closed: closedAt !== null,
  };
}
