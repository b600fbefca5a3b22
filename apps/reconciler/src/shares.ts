import { setTimeout as wait } from 'node:timers/promises';
import { Slots } from '@intendant/runtime';

/** Questions to one upstream at once. */
const perUpstream = 8;
/** How long a question waits for its turn, in ms: longer than an upstream takes that answers at once. */
const patienceMs = 250;

/** Gives each upstream a share of the questions that are open at once, so that one that hangs does not take them all. */
export class Shares {
  private readonly shares = new Map<string, Slots>();

  /**
   * What `ask` says, once it is its turn; null when that is not soon: it is for a later pass then.
   *
   * @param patient waits for its turn however long it takes
   */
  async inTurn<T>(upstream: string, ask: () => Promise<T>, patient = false): Promise<{ readonly said: T } | null> {
    const slots = this.of(upstream);
    const taken = slots.tryTake() || (await (patient ? slots.take() : takenSoon(slots)));
    if (!taken) return null;
    try {
      return { said: await ask() };
    } finally {
      slots.release();
    }
  }

  /** Nothing more can be asked of it now. */
  isFull(upstream: string): boolean {
    return !this.of(upstream).isFree;
  }

  private of(upstream: string): Slots {
    let slots = this.shares.get(upstream);
    if (slots === undefined) {
      slots = new Slots(perUpstream);
      this.shares.set(upstream, slots);
    }
    return slots;
  }
}

async function takenSoon(slots: Slots): Promise<boolean> {
  const over = new AbortController();
  const turn = slots.take();
  const late = wait(patienceMs, false, { signal: over.signal }).catch(() => false);
  const taken = await Promise.race([turn, late]);
  over.abort();
  // The turn comes all the same, to nobody.
  if (!taken) void turn.then((slot) => slot && slots.release());
  return taken;
}
