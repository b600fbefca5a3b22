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

  /** Ms since the epoch, at most 1 ms behind the system clock once that has been looked at without a pause in between. */
  now(): number {
    // Cut off, or read some time before the steady clock, the system clock seems to be behind. It is right just after its
    // tick, so the largest distance is the true one. Read after it, it would seem ahead, and that would be kept.
    const system = this.system();
    const steady = this.steady();
    this.#ahead = Math.max(this.#ahead - (steady - this.#last) * forgetting, system - steady);
    this.#last = steady;
    return Math.round((steady + this.#ahead) * 1000) / 1000;
  }
}
