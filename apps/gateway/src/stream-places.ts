import { Refusal } from '@intendant/contracts';
import type { Reader } from './authentication.js';

/** Event streams that one process keeps open, and those of one run and of one operator among them. */
const most = { all: 5_000, run: 32, operator: 500 } as const;
/** When somebody who was turned away may ask again, in ms: nobody knows when a stream ends. */
const retryAfterMs = 5_000;

/** Who has how many of the places for event streams, so that nobody takes those of all others. */
export class StreamPlaces {
  private readonly taken = new Map<string, number>();
  private all = 0;

  /**
   * Takes a place at once, so that two who ask at the same time never get the same one. Returns what gives it back.
   *
   * @throws Refusal `rate_limited` for one who has its share, `unavailable` where all are taken
   */
  take(reader: Reader): () => void {
    const { owner, limit, of } = shareOf(reader);
    const had = this.taken.get(owner) ?? 0;
    if (had >= limit) {
      const message = `${limit} event streams of ${of} are open already. Close one of them.`;
      throw new Refusal('rate_limited', message, { limit, retryAfterMs });
    }
    if (this.all >= most.all) throw new Refusal('unavailable', 'Too many event streams are open here.');
    this.taken.set(owner, had + 1);
    this.all += 1;
    return () => this.giveBack(owner);
  }

  private giveBack(owner: string): void {
    const left = (this.taken.get(owner) ?? 0) - 1;
    if (left > 0) this.taken.set(owner, left);
    else this.taken.delete(owner);
    this.all -= 1;
  }
}

function shareOf(reader: Reader) {
  if (reader.kind === 'agent') return { owner: reader.session.runId, limit: most.run, of: 'this run' };
  const { tenant, name } = reader.operator;
  return { owner: `${name}@${tenant}`, limit: most.operator, of: name };
}
