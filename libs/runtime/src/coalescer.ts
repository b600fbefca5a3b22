interface Waiting<K, V> {
  readonly key: K;
  readonly resolve: (value: V) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Turns many single requests into few batched ones without adding delay: while a batch is in flight, requests queue,
 * and the next batch takes all that wait. `run` gets at most `maxBatch` keys and returns as many values, in order.
 */
export class Coalescer<K, V> {
  private readonly queue: Waiting<K, V>[] = [];
  private running = 0;
  private scheduled = false;

  constructor(
    private readonly run: (keys: K[]) => Promise<V[]>,
    private readonly maxBatch: number,
    private readonly lanes = 1,
  ) {}

  get waiting(): number {
    return this.queue.length;
  }

  request(key: K): Promise<V> {
    return new Promise((resolve, reject) => {
      this.queue.push({ key, resolve, reject });
      this.schedule();
    });
  }

  private schedule(): void {
    if (this.scheduled || this.running >= this.lanes) return;
    this.scheduled = true;
    // Everything that arrives in the same turn of the event loop belongs to the same batch.
    setImmediate(() => {
      this.scheduled = false;
      while (this.running < this.lanes && this.queue.length > 0) void this.flush(this.queue.splice(0, this.maxBatch));
    });
  }

  private async flush(batch: Waiting<K, V>[]): Promise<void> {
    this.running += 1;
    try {
      const values = await this.run(batch.map((w) => w.key));
      batch.forEach((w, i) => {
        w.resolve(values[i] as V);
      });
    } catch (error) {
      for (const w of batch) w.reject(error);
    } finally {
      this.running -= 1;
      this.schedule();
    }
  }
}
