import { monotonic } from './clock.js';

/** Bounds how much runs at once; whoever comes later waits its turn. */
export class Slots {
  private free: number;
  private closed = false;
  private rested: NodeJS.Timeout | undefined;
  private restsUntil = 0;
  /** After a rest, one at a time; `trying` is that one. */
  private cautious = false;
  private trying = false;
  private readonly queue: ((slot: boolean) => void)[] = [];

  constructor(limit: number) {
    this.free = limit;
  }

  get isFree(): boolean {
    const held = this.closed || this.rested !== undefined || (this.cautious && this.trying);
    return this.free > 0 && !held;
  }

  get waiting(): number {
    return this.queue.length;
  }

  /** True with a slot, which has to be released; false when none is free now. */
  tryTake(): boolean {
    if (!this.isFree) return false;
    this.free -= 1;
    this.trying = this.cautious;
    return true;
  }

  /** True with a slot, which has to be released; false when this was closed meanwhile. */
  async take(): Promise<boolean> {
    if (this.closed) return false;
    if (this.tryTake()) return true;
    return new Promise((resolve) => this.queue.push(resolve));
  }

  release(): void {
    this.free += 1;
    // Perhaps it was another one; then two are trying, which is better than waiting for one that never was.
    this.trying = false;
    this.serve();
  }

  /** Gives nothing out for so many ms, and then one at a time until `resume`; whoever has a slot keeps it. */
  rest(ms: number): void {
    this.cautious = true;
    const until = monotonic() + ms;
    if (this.closed || until <= this.restsUntil) return;
    this.restsUntil = until;
    clearTimeout(this.rested);
    this.rested = setTimeout(() => {
      this.rested = undefined;
      this.serve();
    }, ms);
  }

  /** All slots are good again. */
  resume(): void {
    if (!this.cautious) return;
    this.cautious = false;
    this.serve();
  }

  /** Sends away those who wait; whoever has a slot keeps it. */
  close(): void {
    this.closed = true;
    clearTimeout(this.rested);
    for (const waiter of this.queue.splice(0)) waiter(false);
  }

  private serve(): void {
    while (this.queue.length > 0 && this.tryTake()) this.queue.shift()?.(true);
  }
}

/** One slot of each now, or none of any: null. The result gives them back; to be called once. */
export function tryTakeEach(all: readonly Slots[]): (() => void) | null {
  if (!all.every((slots) => slots.isFree)) return null;
  for (const slots of all) slots.tryTake();
  return () => releaseEach(all);
}

/** One slot of each, in this order, as they become free; null when one was closed meanwhile, and none is kept then. */
export async function takeEach(all: readonly Slots[]): Promise<(() => void) | null> {
  for (const [index, slots] of all.entries()) {
    if (await slots.take()) continue;
    releaseEach(all.slice(0, index));
    return null;
  }
  return () => releaseEach(all);
}

function releaseEach(all: readonly Slots[]): void {
  for (const slots of all) slots.release();
}
