import type { Pool } from 'pg';
import { type CountRow, runsOf, totalsOf, versionsOf } from './sql/run-log.js';

export type Topic = 'intent' | 'run';

interface Watcher {
  /** How many events it knows of. */
  readonly known: number;
  readonly wake: () => void;
}

/** Between looks, as long as somebody waits, in ms. Hints tell of outcomes only, and may be lost. */
const lookMs = 1_000;
const counts = { intent: versionsOf, run: totalsOf } as const;

/**
 * Lets many callers wait until something was added to the log of an intent or a run: one look a second for all of
 * them, and one at once for those that a hint is about.
 */
export class Changes {
  private readonly watchers = { intent: new Map<string, Set<Watcher>>(), run: new Map<string, Set<Watcher>>() };
  private readonly hinted = new Set<string>();
  private timer: NodeJS.Timeout | null = null;
  private finding = false;

  constructor(private readonly pool: Pool) {}

  /** Nobody waits: a hint need not even be read. */
  get isIdle(): boolean {
    return this.watchers.intent.size + this.watchers.run.size === 0;
  }

  /**
   * Resolves when there are more events than the `known` ones, by a hint that there may be, after `ms`, or when
   * `signal` is aborted: a reason to look, not a promise that there is something.
   */
  wait(topic: Topic, id: string, known: number, ms: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = newPromise();
    const all = this.watchers[topic];
    const watcher: Watcher = { known, wake: resolve };
    const same = all.get(id) ?? new Set();
    all.set(id, same.add(watcher));
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', resolve);
    if (signal.aborted) resolve();
    this.timer ??= setTimeout(() => void this.look(), lookMs);
    return promise.then(() => {
      clearTimeout(timer);
      signal.removeEventListener('abort', resolve);
      same.delete(watcher);
      if (same.size === 0 && all.get(id) === same) all.delete(id);
    });
  }

  /** Something happened to these: whoever waits for them, or for their runs, looks. */
  notify(intentIds: Iterable<string>): void {
    if (this.isIdle) return;
    for (const id of intentIds) {
      wake(this.watchers.intent.get(id));
      if (this.watchers.run.size > 0) this.hinted.add(id);
    }
    if (!this.finding && this.hinted.size > 0) void this.findRuns();
  }

  private async findRuns(): Promise<void> {
    this.finding = true;
    while (this.hinted.size > 0) {
      const ids = [...this.hinted];
      this.hinted.clear();
      const found = await this.pool.query<{ id: string }>({ ...runsOf, values: [ids] }).catch(nothing);
      for (const { id } of found.rows) wake(this.watchers.run.get(id));
    }
    this.finding = false;
  }

  private async look(): Promise<void> {
    for (const topic of ['intent', 'run'] as const) {
      const all = this.watchers[topic];
      if (all.size === 0) continue;
      // A database that is away is asked again; who waits is told nothing that is not known.
      const { rows } = await this.pool.query<CountRow>({ ...counts[topic], values: [[...all.keys()]] }).catch(nothing);
      for (const { id, count } of rows) wake(all.get(id), count);
    }
    this.timer = this.isIdle ? null : setTimeout(() => void this.look(), lookMs);
  }
}

const nothing = () => ({ rows: [] });

function wake(watchers: ReadonlySet<Watcher> | undefined, count?: number): void {
  for (const watcher of watchers ?? []) if (watcher.known !== count) watcher.wake();
}

function newPromise(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((fulfil) => {
    resolve = fulfil;
  });
  return { promise, resolve };
}
