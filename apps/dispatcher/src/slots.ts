/** Bounds how much runs at once; whoever comes later waits its turn. */
export class Slots {
  private free: number;
  private closed = false;
  private readonly queue: ((slot: boolean) => void)[] = [];

  constructor(limit: number) {
    this.free = limit;
  }

  get isFree(): boolean {
    return this.free > 0 && !this.closed;
  }

  get waiting(): number {
    return this.queue.length;
  }

  /** True with a slot, which has to be released; false when none is free now. */
  tryTake(): boolean {
    if (!this.isFree) return false;
    this.free -= 1;
    return true;
  }

  /** True with a slot, which has to be released; false when this was closed meanwhile. */
  async take(): Promise<boolean> {
    if (this.closed) return false;
    if (this.tryTake()) return true;
    return new Promise((resolve) => this.queue.push(resolve));
  }

  release(): void {
    const next = this.queue.shift();
    if (next) next(true);
    else this.free += 1;
  }

  /** Sends away those who wait; whoever has a slot keeps it. */
  close(): void {
    this.closed = true;
    for (const waiter of this.queue.splice(0)) waiter(false);
  }
}
