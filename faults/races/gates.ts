/** One life of a replica; when it is killed, whatever it waits for never comes. */
export interface Life {
  readonly name: string;
  alive: boolean;
}

export interface Waiting {
  readonly who: Life;
  readonly what: string;
  /** It stalls: nobody lets it through before this time, in ms since the epoch. */
  readonly from: number;
  /** It has to be let through before this time passes. */
  readonly until: number;
  letThrough(): void;
}

/**
 * Every await of the code under test leads through here, and only what is let through goes on; so one who chooses
 * decides who runs before whom. Between two choices everybody else stands still.
 */
export class Gates {
  readonly waiting: Waiting[] = [];
  private working = 0;
  private moves = 0;
  private readonly deaths = new Map<Life, (() => void)[]>();

  constructor(
    /** What has to be done before any work. */
    private readonly prepare: () => Promise<void>,
    /** Asked once for each that comes: until when it stalls, in ms since the epoch. */
    private readonly stall: () => number,
  ) {}

  /** Resolves when it is let through; never in a life that is over. */
  pass(who: Life, what: string, when?: Pick<Waiting, 'from' | 'until'>): Promise<void> {
    this.moves += 1;
    if (!who.alive) return new Promise(() => {});
    const { from, until } = when ?? { from: this.stall(), until: Number.POSITIVE_INFINITY };
    return new Promise((resolve) => this.waiting.push({ who, what, from, until, letThrough: resolve }));
  }

  /** As `pass`, in the middle of `work`: rejects when the life ends, as what holds a connection has to let go of it. */
  async passWithin(who: Life, what: string): Promise<void> {
    this.working -= 1;
    try {
      await Promise.race([this.pass(who, what), this.deathOf(who)]);
    } finally {
      this.working += 1;
    }
  }

  /** Work that takes real time, such as a query: nobody is let through while it goes on. */
  async work<T>(run: () => Promise<T>): Promise<T> {
    this.working += 1;
    try {
      await this.prepare();
      return await run();
    } finally {
      this.working -= 1;
      this.moves += 1;
    }
  }

  open(waiting: Waiting): void {
    this.waiting.splice(this.waiting.indexOf(waiting), 1);
    this.moves += 1;
    waiting.letThrough();
  }

  kill(who: Life): void {
    who.alive = false;
    this.waiting.splice(0, this.waiting.length, ...this.waiting.filter((each) => each.who !== who));
    for (const died of this.deaths.get(who) ?? []) died();
    this.deaths.delete(who);
    this.moves += 1;
  }

  /** Resolves when nobody can go on without being let through. */
  async quiet(): Promise<void> {
    // Batches of the code under test begin in the next turn of the event loop, and may follow from one another.
    for (let turns = 0, seen = this.moves; turns < 4; turns += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      if (this.working > 0 || this.moves !== seen) {
        seen = this.moves;
        turns = -1;
      }
    }
  }

  private deathOf(who: Life): Promise<never> {
    return new Promise((_, reject) => {
      if (!who.alive) return reject(new Error(`${who.name} was killed`));
      const died = () => reject(new Error(`${who.name} was killed`));
      this.deaths.set(who, [...(this.deaths.get(who) ?? []), died]);
    });
  }
}
