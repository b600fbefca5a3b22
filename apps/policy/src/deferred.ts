import { monotonic } from '@intendant/runtime';

/** Of one tenant, in one replica. JetStream holds 10,000 messages open over all of them. */
const mostOfTenant = 1_000;
const longestMs = 30_000;
/** Until somebody looks again whether an unknown outcome is known. */
const holdMs = 2_000;

/**
 * Published submissions that may be right later and come again by themselves. Each tenant has its own places, so that one
 * that publishes faster than it may does not stop the others.
 */
export class Deferred {
  private readonly byTenant = new Map<string, Map<string, number>>();

  constructor(
    private readonly most = mostOfTenant,
    private readonly now: () => number = monotonic,
  ) {}

  /**
   * In how many ms it is to come again; null when its tenant has no place left.
   *
   * @param random in [0, 1)
   */
  defer(tenant: string, id: string, retryAfterMs: number | null, random: number): number | null {
    const waiting = this.byTenant.get(tenant) ?? new Map<string, number>();
    this.byTenant.set(tenant, waiting);
    waiting.delete(id);
    if (waiting.size >= this.most) this.forgetOverdue(waiting);
    if (waiting.size >= this.most) return null;
    // So many share what becomes free; spread over the time it takes to serve them all, most find something.
    const all = retryAfterMs === null ? holdMs : retryAfterMs * (waiting.size + 1);
    const delayMs = Math.round(Math.min(longestMs, Math.max(retryAfterMs ?? 0, all * random, 50)));
    waiting.set(id, this.now() + 2 * delayMs);
    return delayMs;
  }

  /** It has been decided. */
  done(tenant: string, id: string): void {
    const waiting = this.byTenant.get(tenant);
    waiting?.delete(id);
    if (waiting?.size === 0) this.byTenant.delete(tenant);
  }

  /** Another replica has got those, or they are gone. */
  private forgetOverdue(waiting: Map<string, number>): void {
    for (const [id, until] of waiting) if (until < this.now()) waiting.delete(id);
  }
}
