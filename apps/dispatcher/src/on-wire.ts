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

  /** `signal`: the one that `begin` gave; the intent may have another attempt by now. */
  end(intentId: string, signal: AbortSignal): void {
    if (this.attempts.get(intentId)?.abort.signal === signal) this.attempts.delete(intentId);
  }

  abort(intentIds: readonly string[]): void {
    for (const id of intentIds) this.attempts.get(id)?.abort.abort(new Error('cancelled'));
  }

  /** Those of `intentIds` that this process is sending. */
  among(intentIds: readonly string[]): string[] {
    return intentIds.filter((id) => this.attempts.has(id));
  }

  /** Those under way for at least `ms`. */
  longerThan(ms: number): string[] {
    const before = monotonic() - ms;
    return [...this.attempts]
      .filter(([, { since, abort }]) => since <= before && !abort.signal.aborted)
      .map(([id]) => id);
  }
}
