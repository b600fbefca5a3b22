const firstDelayMs = 200;
const longestDelayMs = 30_000;

/**
 * Delay before try `tries + 1`: doubling from 200 ms to 30 s, of which the upper half is random.
 *
 * @param random in [0, 1)
 */
export function redeliveryDelay(tries: number, random: number): number {
  const full = Math.min(longestDelayMs, firstDelayMs * 2 ** Math.min(tries - 1, 20));
  return Math.round(full / 2 + (random * full) / 2);
}

/**
 * Counts failures per message in memory. The server's delivery count is not used: a redelivery may claim to be the
 * first delivery, and a message that was only waiting for a slow consumer looks like one that fails.
 */
export class FailureCounts {
  private readonly counts = new Map<string, number>();

  constructor(private readonly limit = 10_000) {}

  /** Counts one more failure and returns how many there were. */
  failed(message: string): number {
    const tries = (this.counts.get(message) ?? 0) + 1;
    this.counts.delete(message);
    this.counts.set(message, tries);
    const oldest = this.counts.keys().next();
    if (this.counts.size > this.limit && !oldest.done) this.counts.delete(oldest.value);
    return tries;
  }

  succeeded(message: string): void {
    this.counts.delete(message);
  }
}
