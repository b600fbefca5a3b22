import { setTimeout as wait } from 'node:timers/promises';
import { monotonic, Slots } from '@intendant/runtime';

/** Questions to one upstream at once. */
const perUpstream = 8;
/** How long a question waits for its turn, in ms; and an upstream that has ended none for that long is slow. */
const patienceMs = 250;

interface Share {
  readonly slots: Slots;
  /** When a question was last begun or ended, on the own monotonic clock. */
  movedAt: number;
}

/** Gives each upstream a share of the questions that are open at once, so that one that hangs does not take them all. */
export class Shares {
  private readonly shares = new Map<string, Share>();

  /** What `ask` says, once it is its turn; null when that will take long: it is for a later pass then. */
  async inTurn<T>(upstream: string, ask: () => Promise<T>): Promise<T | null> {
    const share = this.of(upstream);
    if (!share.slots.tryTake() && !(await takenSoon(share))) return null;
    share.movedAt = monotonic();
    try {
      return await ask();
    } finally {
      share.movedAt = monotonic();
      share.slots.release();
    }
  }

  private of(upstream: string): Share {
    let share = this.shares.get(upstream);
    if (share === undefined) {
      share = { slots: new Slots(perUpstream), movedAt: monotonic() };
      this.shares.set(upstream, share);
    }
    return share;
  }
}

async function takenSoon({ slots, movedAt }: Share): Promise<boolean> {
  if (monotonic() - movedAt > patienceMs) return false;
  const over = new AbortController();
  const turn = slots.take();
  const late = wait(patienceMs, false, { signal: over.signal }).catch(() => false);
  const taken = await Promise.race([turn, late]);
  over.abort();
  // The turn comes all the same, to nobody.
  if (!taken) void turn.then((slot) => slot && slots.release());
  return taken;
}
