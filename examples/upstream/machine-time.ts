import { performance } from 'node:perf_hooks';

/** How fast what was learnt of the system clock is given up, per ms: twice what NTP may ever correct it by. */
const forgetting = 0.001;

/**
 * The system clock in ms with a fraction, never stepping back. A steady clock that is added to its start alone goes
 * astray: it was seen to be 9 ms off after 20 minutes, and what others write down would not fit any more.
 */
export class MachineTime {
  #ahead = Number.NEGATIVE_INFINITY;
  #last = 0;

  constructor(
    /** Whole ms, cut off. */
    private readonly system: () => number = Date.now,
    private readonly steady: () => number = () => performance.now(),
  ) {}

  /** Ms since the epoch, at most 1 ms behind the system clock. */
  now(): number {
    const steady = this.steady();
    // Cut off, the system clock seems to be behind; it is right just after its tick, so the largest distance is the true one.
    this.#ahead = Math.max(this.#ahead - (steady - this.#last) * forgetting, this.system() - steady);
    this.#last = steady;
    return Math.round((steady + this.#ahead) * 1000) / 1000;
  }
}
