import { monotonic } from '@intendant/runtime';

/** Of one tenant and in all, in one replica. JetStream holds 10,000 messages open over all replicas, and others need some. */
const mostOfTenant = 200;
const mostInAll = 1_000;
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
    private readonly inAll = mostInAll,
    private readonly now: () => number = monotonic,
  ) {}

  /**
   * In how many ms it is to come again; null when its tenant has no place left.
   *
   * @param random in [0, 1)
   */
  defer(tenant: string, id: string, retryAfterMs: number | null, random: number): number | null {
    const waiting = this.byTenant.get(tenant) ?? new Map<string, number>();
    waiting.delete(id);
    if (this.isFull(waiting)) this.forgetOverdue();
    if (this.isFull(waiting)) return null;
    // So many share what becomes free; spread over the time it takes to serve them all, most find something.
    const all = retryAfterMs === null ? holdMs : retryAfterMs * (waiting.size + 1);
    const delayMs = Math.round(Math.min(longestMs, Math.max(retryAfterMs ?? 0, all * random, 50)));
    waiting.set(id, this.now() + 2 * delayMs);
    this.byTenant.set(tenant, waiting);
    return delayMs;
  }

  /** It has been decided. */
  done(tenant: string, id: string): void {
    const waiting = this.byTenant.get(tenant);
    waiting?.delete(id);
    if (waiting?.size === 0) this.byTenant.delete(tenant);
  }

  /** Another replica has got those, or they are gone. */
  private forgetOverdue(): void {
    for (const [tenant, waiting] of this.byTenant) {
      for (const [id, until] of waiting) if (until < this.now()) waiting.delete(id);
      if (waiting.size === 0) this.byTenant.delete(tenant);
    }
  }

  private isFull(waiting: ReadonlyMap<string, number>): boolean {
    if (waiting.size >= this.most) return true;
    let all = 0;
    for (const { size } of this.byTenant.values()) all += size;
    return all >= this.inAll;
  }
}
