/** Wakes everyone who waits for the next change; holds no state, so waiters check theirs again. */
export class Signal {
  private readonly waiters = new Set<() => void>();

  notify(): void {
    for (const wake of this.waiters) wake();
  }

  /** Resolves at the next `notify`, or after `limitMs`. */
  next(limitMs?: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        this.waiters.delete(wake);
        resolve();
      };
      const timer = limitMs === undefined ? undefined : setTimeout(wake, limitMs);
      this.waiters.add(wake);
    });
  }
}
