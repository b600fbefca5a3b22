import type { Socket } from 'node:net';

/** How a proxy passes on what it got; it may change at any time, and then holds for what comes next. */
export interface Pace {
  readonly delayMs: number;
  /** 0: as it came. */
  readonly sliceBytes: number;
}

interface Waiting {
  /** Null: the end. */
  readonly chunk: Buffer | null;
  readonly dueAt: number;
}

/** What is on its way to one side of a connection, in order. */
export class Delivery {
  #waiting: Waiting[] = [];
  #disarm: (() => void) | null = null;

  constructor(
    private readonly to: Socket,
    private readonly pace: Pace,
  ) {}

  add(chunk: Buffer): void {
    const { sliceBytes } = this.pace;
    if (sliceBytes === 0) {
      this.#put(chunk, false);
      return;
    }
    for (let from = 0; from < chunk.length; from += sliceBytes)
      this.#put(chunk.subarray(from, from + sliceBytes), true);
  }

  end(): void {
    this.#put(null, false);
  }

  /** Writes what waits and this behind it at once. */
  hurry(chunk: Buffer): void {
    const before = this.#waiting.flatMap((each) => (each.chunk ? [each.chunk] : []));
    this.drop();
    this.to.write(Buffer.concat([...before, chunk]));
  }

  /** Forgets what waits. */
  drop(): void {
    this.#disarm?.();
    this.#disarm = null;
    this.#waiting = [];
  }

  #put(chunk: Buffer | null, inTurn: boolean): void {
    if (this.#waiting.length === 0 && this.pace.delayMs === 0 && !inTurn) {
      this.#write(chunk);
      return;
    }
    this.#waiting.push({ chunk, dueAt: performance.now() + this.pace.delayMs });
    if (this.#disarm === null) this.#arm();
  }

  #arm(): void {
    const [next] = this.#waiting;
    if (!next) return;
    const act = () => {
      this.#disarm = null;
      this.#waiting.shift();
      this.#write(next.chunk);
      this.#arm();
    };
    const waitMs = next.dueAt - performance.now();
    if (waitMs > 0) {
      const timer = setTimeout(act, waitMs);
      this.#disarm = () => clearTimeout(timer);
    } else {
      const turn = setImmediate(act);
      this.#disarm = () => clearImmediate(turn);
    }
  }

  #write(chunk: Buffer | null): void {
    if (chunk) this.to.write(chunk);
    else this.to.end();
  }
}
