import { setTimeout as wait } from 'node:timers/promises';
import type { Commit } from '@intendant/contracts';
import type { Command, Intent } from '@intendant/intent';
import { Coalescer, faultPoint, newId } from '@intendant/runtime';
import type { Pool } from 'pg';
import { Batch, type Pending } from './batch.js';
import { isTransient, StoreUnavailable } from './errors.js';
import type { Result } from './result.js';
import { append } from './sql/append.js';
import { loadStreams, type StreamRow } from './sql/load-streams.js';
import { foldRows } from './stream.js';

/** A command and the intent it is for; a `record` finds its intent by the proposal's key. */
export interface Addressed {
  /** Identity of the command: executed twice, it takes effect once. Made up when left out. */
  readonly commandId?: string;
  readonly intentId: string;
  readonly command: Command;
}

export interface DoorOptions {
  /** Told after each commit, for hints on the bus. Must not throw. */
  readonly committed?: (commit: Commit) => void;
  /** Transactions at once. One is the fastest (docs/performance.md): more only make the batches smaller. */
  readonly lanes?: number;
  /** Commands in one transaction. */
  readonly maxBatch?: number;
}

/** Pauses between tries of a batch whose fate is not known, in ms; then the callers get `StoreUnavailable`. */
const retryPauses = [50, 200, 800, 2_000];
/** Losing a race this often in a row means a bug, not bad luck. */
const maxConflicts = 20;

/**
 * The one way to change an intent: load its events, fold, decide, append. Callers write straight-line code for one
 * intent; whatever waits while a transaction is in flight shares the next one.
 */
export class Door {
  private readonly lanes: Coalescer<Pending, Result | Error>[];

  constructor(
    private readonly pool: Pool,
    private readonly options: DoorOptions = {},
    /** Told after each commit which intents have an outcome now. Must not throw. */
    private readonly settled: (intents: readonly Intent[]) => void = () => {},
  ) {
    const { lanes = 1, maxBatch = 256 } = options;
    this.lanes = Array.from({ length: lanes }, () => new Coalescer((batch) => this.run(batch), maxBatch));
  }

  /** Commands that wait for a transaction; callers shed load by it. */
  get waiting(): number {
    return this.lanes.reduce((sum, lane) => sum + lane.waiting, 0);
  }

  /** @throws StoreUnavailable when the database stayed away; anything else it throws is a bug in the command. */
  async execute({ intentId, command, commandId = newId() }: Addressed): Promise<Result> {
    const key = command.type === 'record' ? command.proposal.key : null;
    const pending: Pending = { commandId, intentId, key, command };
    const result = await this.lane(key ?? intentId).request(pending);
    if (result instanceof Error) throw result;
    return result;
  }

  /** The same intent is always in the same lane, so that its commands queue instead of colliding. */
  private lane(name: string): Coalescer<Pending, Result | Error> {
    let hash = 0;
    for (let i = 0; i < name.length; i += 1) hash = (hash * 31 + name.charCodeAt(i)) | 0;
    return this.lanes[Math.abs(hash) % this.lanes.length] as Coalescer<Pending, Result | Error>;
  }

  private async run(batch: Pending[]): Promise<(Result | Error)[]> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await this.transact(batch, 0);
      } catch (error) {
        if (!isTransient(error)) return this.oneByOne(batch, error as Error);
        const pause = retryPauses[attempt];
        if (pause === undefined) {
          const unavailable = new StoreUnavailable(`the database did not answer: ${(error as Error).message}`, {
            cause: error,
          });
          return batch.map(() => unavailable);
        }
        // Nobody knows whether it was committed. Running it again is right either way: what was applied is found by its command id.
        await wait(pause);
      }
    }
  }

  /** One bad command must not fail its neighbours. */
  private async oneByOne(batch: Pending[], error: Error): Promise<(Result | Error)[]> {
    if (batch.length === 1) return [error];
    const results: (Result | Error)[] = [];
    for (const pending of batch) results.push(...(await this.run([pending])));
    return results;
  }

  private async transact(pendings: readonly Pending[], conflicts: number): Promise<(Result | Error)[]> {
    const ids = pendings.filter((p) => p.key === null).map((p) => p.intentId);
    const keys = pendings.flatMap((p) => p.key ?? []);
    const loaded = await this.pool.query<StreamRow>({ ...loadStreams, values: [[...new Set(ids)], keys] });
    const now = Math.round((loaded.rows[0] as StreamRow).now);
    const batch = new Batch(foldRows(loaded.rows), now);
    for (const pending of pendings) batch.decide(pending);
    if (batch.isEmpty) return this.again(pendings, batch.results(new Set()), conflicts);

    faultPoint('door.before_append');
    const appended = await this.pool.query<{ id: string }>({ ...append, values: batch.parameters() });
    faultPoint('door.after_append');
    const done = new Set(appended.rows.map((row) => row.id));
    this.settled(batch.outcomes(done));
    this.options.committed?.(batch.commit(done));
    return this.again(pendings, batch.results(done), conflicts);
  }

  /** Those that lost a race are decided again, on what is there now. */
  private async again(
    pendings: readonly Pending[],
    results: (Result | Error | null)[],
    conflicts: number,
  ): Promise<(Result | Error)[]> {
    const lost = pendings.filter((_, i) => results[i] === null);
    if (lost.length === 0) return results as (Result | Error)[];
    const second: (Result | Error)[] =
      conflicts < maxConflicts
        ? await this.transact(lost, conflicts + 1)
        : lost.map(() => new StoreUnavailable('the intent is changed by others all the time'));
    return results.map((result) => result ?? (second.shift() as Result | Error));
  }
}
