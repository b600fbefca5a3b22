import { monotonic } from '@intendant/runtime';

/** Attempts of this process that are being sent, and how to abort them. */
export class OnWire {
  private readonly attempts = new Map<string, { readonly since: number; readonly abort: AbortController }>();

  /** From now on the attempt of this intent can be aborted. */
  begin(intentId: string): AbortSignal {
    const abort = new AbortController();
    this.attempts.set(intentId, { since: monotonic(), abort });
    return abort.signal;
  }

  end(intentId: string): void {
    this.attempts.delete(intentId);
  }

  /** Those that are not of this process, or over, are none of its business. */
  abort(intentIds: readonly string[]): void {
    for (const id of intentIds) this.attempts.get(id)?.abort.abort(new Error('cancelled'));
  }

  /** Those under way for at least `ms`. */
  longerThan(ms: number): string[] {
    const before = monotonic() - ms;
    return [...this.attempts]
      .filter(([, { since, abort }]) => since <= before && !abort.signal.aborted)
      .map(([id]) => id);
  }
}
