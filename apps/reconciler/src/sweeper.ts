/** What one pass of a sweeper did. */
export interface Swept {
  /** Intents whose time had come. */
  readonly found: number;
  /** Intents that moved, or were rung for, because of it. */
  readonly changed: number;
  /** Intents that could not be dealt with now; they come up again. */
  readonly failed: number;
}

/** One duty per non-terminal state. Run as a loop, or once from cron; tests call `runOnce`. */
export interface Sweeper {
  readonly name: string;
  /** Least pause between two passes, in ms; none when left out. */
  readonly restMs?: number;
  /** Intents in one pass of the loop; a few hundred when left out. */
  readonly batchSize?: number;
  /**
   * Deals with at most `limit` intents. Throws only when nothing can be done at all. After `patienceMs` a sweeper that
   * has to wait for others may return with what is done so far, and go on with the rest; left out: it waits.
   */
  runOnce(limit: number, patienceMs?: number): Promise<Swept>;
  /** Waits for what passes left to be finished. */
  finish?(): Promise<void>;
}

/** Waits for the work, but no longer than that; without a limit when left out. */
export async function within(work: Promise<unknown>, limitMs?: number): Promise<void> {
  if (limitMs === undefined) return void (await work);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Runs `deal` for each item, so many at once; one that fails does not stop the others. */
export async function sweepAll<T>(
  items: readonly T[],
  concurrency: number,
  deal: (item: T) => Promise<boolean>,
  onError: (item: T, error: unknown) => void,
): Promise<Swept> {
  let changed = 0;
  let failed = 0;
  const queue = items.values();
  const worker = async () => {
    for (const item of queue) {
      try {
        if (await deal(item)) changed += 1;
      } catch (error) {
        failed += 1;
        onError(item, error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, worker));
  return { found: items.length, changed, failed };
}
