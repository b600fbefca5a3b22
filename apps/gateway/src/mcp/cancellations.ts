import type { RequestId } from '@modelcontextprotocol/server';

/**
 * The requests that are waited for at this gateway, so that a message of its own (`notifications/cancelled`) can end the
 * waiting. Clients that share a run token may choose the same id: then both stop waiting, and both are answered.
 */
export class Cancellations {
  private readonly waiting = new Map<string, Set<AbortController>>();

  /** Runs `wait` with a signal that is aborted with `gone`, or by `cancel` for the same run and request. */
  async during<T>(
    runId: string,
    request: RequestId,
    gone: AbortSignal,
    wait: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const key = keyOf(runId, request);
    const cancelled = new AbortController();
    const same = this.waiting.get(key) ?? new Set();
    this.waiting.set(key, same.add(cancelled));
    try {
      return await wait(AbortSignal.any([gone, cancelled.signal]));
    } finally {
      same.delete(cancelled);
      if (same.size === 0 && this.waiting.get(key) === same) this.waiting.delete(key);
    }
  }

  cancel(runId: string, request: RequestId): void {
    for (const each of this.waiting.get(keyOf(runId, request)) ?? []) each.abort();
  }
}

/** 1 and "1" are different requests. */
function keyOf(runId: string, request: RequestId): string {
  return JSON.stringify([runId, request]);
}
