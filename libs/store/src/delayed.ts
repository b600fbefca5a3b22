/** Runs a duty some time after it was first asked for, so that what is asked for meanwhile is done together. */
export class Delayed {
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();

  constructor(
    private readonly ms: number,
    /** Must not reject. */
    private readonly run: () => Promise<void>,
  ) {}

  schedule(): void {
    this.timer ??= setTimeout(() => this.start(), this.ms);
  }

  /** Runs at once, and waits for it and for what runs already. */
  flush(): Promise<void> {
    clearTimeout(this.timer);
    this.start();
    return this.running;
  }

  private start(): void {
    this.timer = undefined;
    this.running = Promise.all([this.running, this.run()]).then(() => undefined);
  }
}
