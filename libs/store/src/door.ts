import { setTimeout as wait } from 'node:timers/promises';
import type { Commit } from '@intendant/contracts';
import type { Command, Intent } from '@intendant/intent';
import { Coalescer, faultPoint, newId } from '@intendant/runtime';
import type { Pool } from 'pg';
import { askedBy, Batch, type LateEvidence, type Lost, noneLost, type Pending, type Streams } from './batch.js';
import { Book } from './book.js';
import { DatabaseClock } from './database-clock.js';
import { Contended, isTransient, StoreUnavailable } from './errors.js';
import type { Admission } from './facts.js';
import type { Outbox, Publish } from './outbox.js';
import type { Result } from './result.js';
import { type Appended, appendFor } from './sql/append.js';
import { loadStreams, type StreamRow } from './sql/load-streams.js';
import { withValues } from './sql/named.js';
import type { Reservation, Starter } from './starter.js';
import { foldRows } from './stream.js';

/** A command and the intent it is for; a `record` finds its intent by the proposal's key. */
export interface Addressed {
  /** Identity of the command: executed twice, it takes effect once. Made up when left out. */
  readonly commandId?: string;
  readonly intentId: string;
  readonly command: Command;
  /** The intent as the caller last saw it; saves loading it. Is it out of date, it is loaded after all. */
  readonly known?: Intent;
  /** What a record needs of its run and its tenant. Left out: nothing is asked, and what it takes is counted all the same. */
  readonly admission?: Admission;
}

export interface DoorOptions {
  /** Told after each commit, for hints on the bus. Must not throw. */
  readonly committed?: (commit: Commit) => void;
  /** Told after the commit of each fact that came too late: somebody was told otherwise. Must not throw. */
  readonly corrected?: (evidence: LateEvidence) => void;
  /** Publishes the messages of a commit right after it; without it they wait for the relay. */
  readonly publish?: Publish;
  /** Transactions at once. One is the fastest (docs/performance.md): more only make the batches smaller. */
  readonly lanes?: number;
  /** Commands in one transaction. */
  readonly maxBatch?: number;
}

/** Pauses between tries of a batch whose fate is not known, in ms; then the callers get `StoreUnavailable`. */
const retryPauses = [50, 200, 800, 2_000];
/** Losing a race this often in a row means a bug, not bad luck. */
const maxConflicts = 20;
/** After so many, replicas get out of step with each other. */
const politeConflicts = 3;
const conflictPauseMs = 3;

/**
 * The one way to change an intent: load its events, fold, decide, append. Callers write straight-line code for one
 * intent; whatever waits while a transaction is in flight shares the next one.
 */
export class Door {
  private readonly lanes: Coalescer<Pending, Result | Error>[];
  private readonly clock = new DatabaseClock();
  private starter: Starter | null = null;

  constructor(
    private readonly pool: Pool,
    private readonly outbox: Outbox,
    private readonly options: DoorOptions = {},
    /** Told after each commit which intents have an outcome now; returns those that somebody elsewhere may wait for. */
    private readonly settled: (intents: readonly Intent[]) => readonly Intent[] = (intents) => intents,
  ) {
    const { lanes = 1, maxBatch = 256 } = options;
    this.lanes = Array.from({ length: lanes }, () => new Coalescer((batch) => this.serve(batch), maxBatch));
  }

  /** Has intents that are recorded here from now on started at once, where `starter` has a slot. */
  startWith(starter: Starter): void {
    this.starter = starter;
  }

  /** Commands that wait for a transaction; callers shed load by it. */
  get waiting(): number {
    return this.lanes.reduce((sum, lane) => sum + lane.waiting, 0);
  }

  /**
   * @throws StoreUnavailable when the database stayed away; what the judge of an admission throws; anything else is a bug
   *   in the command.
   */
  async execute({ intentId, command, commandId = newId(), known, admission }: Addressed): Promise<Result> {
    const key = command.type === 'record' ? command.proposal.key : null;
    const pending: Pending = { commandId, intentId, key, command, known, admission };
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

  private async serve(batch: readonly Pending[]): Promise<(Result | Error)[]> {
    const results = await this.run(batch);
    batch.forEach(({ reservation }, i) => {
      if (reservation) useReservation(reservation, results[i] as Result | Error);
    });
    return results;
  }

  private async run(batch: readonly Pending[]): Promise<(Result | Error)[]> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        // Only the first try may build on what is known: a later one has to see what the one before may have written.
        return await this.transact(batch, { known: attempt === 0, conflicts: 0 });
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
  private async oneByOne(batch: readonly Pending[], error: Error): Promise<(Result | Error)[]> {
    if (batch.length === 1) return [error];
    const results: (Result | Error)[] = [];
    for (const pending of batch) results.push(...(await this.run([pending])));
    return results;
  }

  private async transact(pendings: readonly Pending[], how: How): Promise<(Result | Error)[]> {
    const onFacts = factsNeededBy(pendings, how.known);
    const { streams, now } = await this.streamsOf(pendings, how.known, onFacts);
    const book = await this.bookOf(stillOpen(onFacts, streams));
    const batch = new Batch(streams, book ? Math.floor(book.now) : now, this.starter, book);
    for (const pending of pendings) batch.decide(pending);
    if (batch.isEmpty) {
      this.alarm(batch, noneLost);
      return this.again(pendings, await this.doubted(pendings, batch.results(noneLost)), noneLost, how);
    }

    faultPoint('door.before_append');
    const values = batch.values();
    const { rows } = await this.pool.query<Appended>(withValues(appendFor(values), values));
    faultPoint('door.after_append');
    this.clock.set((rows[0] as Appended).now);
    const lost = new Map(rows.flatMap(({ id, ...why }) => (id === null ? [] : [[id, why]])));
    const elsewhere = this.settled(batch.outcomes(lost));
    this.options.committed?.(batch.commit(lost, elsewhere));
    this.alarm(batch, lost);
    this.outbox.announce(batch.announcements(lost));
    return this.again(pendings, await this.doubted(pendings, batch.results(lost)), lost, how);
  }

  /** Who was turned away may have met nobody but itself: another replica has recorded the same request a moment ago. */
  private async doubted(
    pendings: readonly Pending[],
    results: readonly (Result | Error | null)[],
  ): Promise<(Result | Error | null)[]> {
    const keys = pendings.flatMap(({ key, admission }, i) =>
      key && admission && results[i] instanceof Error ? [key] : [],
    );
    if (keys.length === 0) return [...results];
    const { rows } = await this.pool.query<StreamRow>({ values: [[], keys], ...loadStreams });
    const recorded = new Set(recordedKeys(foldRows(rows)));
    return results.map((result, i) =>
      result instanceof Error && recorded.has(pendings[i]?.key ?? '') ? null : result,
    );
  }

  private alarm(batch: Batch, lost: Lost): void {
    for (const evidence of batch.lateEvidence(lost)) this.options.corrected?.(evidence);
  }

  /**
   * How the intents stand, and the time to decide by. With `known`, from what is at hand, and an intent to be recorded
   * is taken for new; what is not so after all is lost when it is written, and comes again without.
   */
  private async streamsOf(
    pendings: readonly Pending[],
    known: boolean,
    onFacts: ReadonlySet<Pending>,
  ): Promise<{ streams: Streams; now: number }> {
    const now = this.clock.now();
    const useKnown = known && now !== null;
    const streams: Streams = new Map();
    const ids = new Set<string>();
    const keys: string[] = [];
    for (const pending of pendings) {
      const { intentId, key, known: intent } = pending;
      if (useKnown && intent) streams.set(intentId, { intent, commands: noCommands });
      else if (key === null) ids.add(intentId);
      else if (!useKnown || onFacts.has(pending)) keys.push(key);
    }
    if (useKnown && ids.size + keys.length === 0) return { streams, now };
    const { rows } = await this.pool.query<StreamRow>({ values: [[...ids], keys], ...loadStreams });
    const time = (rows[0] as StreamRow).now;
    this.clock.set(time);
    for (const [id, stream] of foldRows(rows)) streams.set(id, stream);
    return { streams, now: Math.floor(time) };
  }

  /** The facts for what is new; null where nobody needs any. */
  private async bookOf(pendings: readonly Pending[]): Promise<Book | null> {
    const asked = pendings.flatMap((pending) => askedBy(pending) ?? []);
    if (asked.length === 0) return null;
    const book = await Book.load(this.pool, asked);
    this.clock.set(book.now);
    return book;
  }

  /** Those that were not written, or rest on what nothing has confirmed, are decided again on what is there now. */
  private async again(
    pendings: readonly Pending[],
    results: (Result | Error | null)[],
    lost: Lost,
    { known, conflicts }: How,
  ): Promise<(Result | Error)[]> {
    // Writing it confirms what a caller knew; a "no" writes nothing.
    const confirmed = results.map((result, i) => (known && pendings[i]?.known && !isAccepted(result) ? null : result));
    const open = pendings.filter((_, i) => confirmed[i] === null);
    if (open.length === 0) return confirmed as (Result | Error)[];
    for (const pending of open) {
      const { runClosed = false, outOfPhase = false, grantOver = false } = lost.get(pending.intentId) ?? {};
      Object.assign(pending, { runClosed, outOfPhase, grantOver });
    }
    if (conflicts > politeConflicts) await wait(Math.random() * conflicts * conflictPauseMs);
    const second: (Result | Error)[] =
      conflicts < maxConflicts
        ? await this.transact(open, { known: false, conflicts: conflicts + 1 })
        : open.map(() => new Contended('what it depends on is changed by others all the time'));
    return confirmed.map((result) => result ?? (second.shift() as Result | Error));
  }
}

function isAccepted(result: Result | Error | null): boolean {
  return result !== null && !(result instanceof Error) && result.kind === 'accepted';
}

function useReservation(reservation: Reservation, result: Result | Error): void {
  const intent = result instanceof Error ? null : result.intent;
  const ours = intent?.state === 'dispatching' && intent.attempt.attemptId === reservation.attemptId;
  if (ours) reservation.started(intent);
  else reservation.release();
}

/**
 * Records that are decided on facts: what has been lost once, and what cannot be right without them. Those of one run go
 * together, so that each sees what the others take.
 */
function factsNeededBy(pendings: readonly Pending[], known: boolean): ReadonlySet<Pending> {
  const runs = new Set<string>();
  for (const { admission } of pendings)
    if (admission && (!known || admission.needsFacts)) runs.add(admission.claim.runId);
  return new Set(pendings.filter(({ admission }) => admission && runs.has(admission.claim.runId)));
}

/** Those that nothing has been recorded for, and something may. */
function stillOpen(pendings: ReadonlySet<Pending>, streams: Streams): Pending[] {
  const recorded = new Set(recordedKeys(streams));
  return [...pendings].filter(({ key, runClosed }) => !runClosed && !recorded.has(key ?? ''));
}

function recordedKeys(streams: Streams): string[] {
  return [...streams.values()].flatMap((stream) => (stream instanceof Error ? [] : [stream.intent.proposal.key]));
}

interface How {
  /** Whether to decide on what callers know, where they know something. */
  readonly known: boolean;
  /** How often in a row these commands have been lost. */
  readonly conflicts: number;
}

const noCommands: ReadonlySet<string> = new Set();
