import type { RigFaultLog } from './fault-log.js';
import type { BreakableNats, BreakablePostgres } from './installation.js';

/** PostgreSQL as it is broken, with every order written down and what is needed to mend it remembered. */
export class LoggedPostgres implements BreakablePostgres {
  #down: string | null = null;
  #paused = false;
  #readOnly = false;
  /** What is held from the outside, and how it is let go. */
  readonly #held = new Set<() => Promise<void>>();

  constructor(
    private readonly server: BreakablePostgres,
    private readonly faults: RigFaultLog,
  ) {}

  async crash(): Promise<void> {
    await this.#goDown('postgres.crash', () => this.server.crash());
  }

  async stop(): Promise<void> {
    await this.#goDown('postgres.stop', () => this.server.stop());
  }

  async start(): Promise<void> {
    if (this.#down === null) {
      this.faults.missed('postgres.start', 'postgres', 'it runs');
      return;
    }
    await this.server.start();
    this.faults.end(this.#down, 'postgres');
    this.#down = null;
  }

  pause(): void {
    if (!this.#works('postgres.pause')) return;
    this.faults.begin('postgres.pause', 'postgres');
    this.#paused = true;
    this.server.pause();
  }

  resume(): void {
    if (!this.#paused) {
      this.faults.missed('postgres.resume', 'postgres', 'it is not paused');
      return;
    }
    this.server.resume();
    this.#paused = false;
    this.faults.end('postgres.pause', 'postgres');
  }

  async readOnly(on: boolean): Promise<void> {
    if (on === this.#readOnly || !this.#works('postgres.read_only')) return;
    if (on) this.faults.begin('postgres.read_only', 'postgres');
    this.#readOnly = on;
    await this.server.readOnly(on);
    if (!on) this.faults.end('postgres.read_only', 'postgres');
  }

  async terminateBackends(most: number): Promise<number> {
    if (!this.#works('postgres.terminate')) return 0;
    const ended = await this.server.terminateBackends(most);
    if (ended === 0) this.faults.missed('postgres.terminate', 'postgres', 'no service was connected');
    else this.faults.begin('postgres.terminate', 'postgres', { backends: ended });
    return ended;
  }

  holdTransaction(): Promise<() => Promise<void>> {
    return this.#hold('postgres.hold', () => this.server.holdTransaction());
  }

  exhaust(): Promise<() => Promise<void>> {
    return this.#hold('postgres.exhaust', () => this.server.exhaust());
  }

  async mend(): Promise<void> {
    if (this.#paused) this.resume();
    if (this.#down !== null) await this.start();
    for (const letGo of [...this.#held]) await letGo();
    await this.readOnly(false);
  }

  async #goDown(kind: string, act: () => Promise<void>): Promise<void> {
    if (!this.#works(kind)) return;
    this.faults.begin(kind, 'postgres');
    this.#down = kind;
    await act();
  }

  async #hold(kind: string, take: () => Promise<() => Promise<void>>): Promise<() => Promise<void>> {
    if (!this.#works(kind)) return async () => undefined;
    const end = await take();
    this.faults.begin(kind, 'postgres');
    const letGo = async () => {
      if (!this.#held.has(letGo)) return;
      await end();
      this.#held.delete(letGo);
      this.faults.end(kind, 'postgres');
    };
    this.#held.add(letGo);
    return letGo;
  }

  #works(kind: string): boolean {
    if (this.#down === null && !this.#paused) return true;
    this.faults.missed(kind, 'postgres', this.#paused ? 'it is paused' : 'it is down');
    return false;
  }
}

/** The same for NATS. */
export class LoggedNats implements BreakableNats {
  readonly #down = new Map<number, string>();
  readonly #paused = new Set<number>();

  constructor(
    private readonly server: BreakableNats,
    private readonly faults: RigFaultLog,
  ) {}

  get nodes(): number {
    return this.server.nodes;
  }

  kill(node: number): Promise<void> {
    return this.#goDown('nats.kill', node, () => this.server.kill(node));
  }

  stop(node: number): Promise<void> {
    return this.#goDown('nats.stop', node, () => this.server.stop(node));
  }

  async start(node: number): Promise<void> {
    const kind = this.#down.get(node);
    if (kind === undefined) {
      this.faults.missed('nats.start', `nats/${node}`, 'it runs');
      return;
    }
    await this.server.start(node);
    this.#down.delete(node);
    this.faults.end(kind, `nats/${node}`);
  }

  pause(node: number): void {
    if (!this.#works('nats.pause', node)) return;
    this.faults.begin('nats.pause', `nats/${node}`);
    this.#paused.add(node);
    this.server.pause(node);
  }

  resume(node: number): void {
    if (!this.#paused.delete(node)) {
      this.faults.missed('nats.resume', `nats/${node}`, 'it is not paused');
      return;
    }
    this.server.resume(node);
    this.faults.end('nats.pause', `nats/${node}`);
  }

  async wipe(nodes: readonly number[]): Promise<void> {
    await this.#anew('nats.wipe', nodes, () => this.server.wipe(nodes));
  }

  snapshot(): Promise<void> {
    return this.server.snapshot();
  }

  async restore(): Promise<void> {
    const all = Array.from({ length: this.nodes }, (_, node) => node);
    await this.#anew('nats.restore', all, () => this.server.restore());
  }

  async deleteConsumer(stream: string, durable: string): Promise<void> {
    await this.server.deleteConsumer(stream, durable);
    this.faults.begin('nats.delete_consumer', `${stream}/${durable}`);
  }

  async deleteStream(stream: string): Promise<void> {
    await this.server.deleteStream(stream);
    this.faults.begin('nats.delete_stream', stream);
  }

  leaderOf(stream: string): Promise<number> {
    return this.server.leaderOf(stream);
  }

  async mend(): Promise<void> {
    for (const node of [...this.#paused]) this.resume(node);
    await Promise.all([...this.#down.keys()].map((node) => this.start(node)));
  }

  /** Ends these nodes, whatever they did, and starts them with other stores. */
  async #anew(kind: string, nodes: readonly number[], act: () => Promise<void>): Promise<void> {
    for (const node of nodes) {
      if (this.#paused.has(node)) this.resume(node);
      this.faults.begin(kind, `nats/${node}`);
    }
    try {
      await act();
    } catch (error) {
      // Ended, perhaps, and not started again: mending has to know.
      for (const node of nodes) if (!this.#down.has(node)) this.#down.set(node, kind);
      throw error;
    }
    for (const node of nodes) {
      this.faults.end(kind, `nats/${node}`);
      const before = this.#down.get(node);
      if (before !== undefined) this.faults.end(before, `nats/${node}`);
      this.#down.delete(node);
    }
  }

  async #goDown(kind: string, node: number, act: () => Promise<void>): Promise<void> {
    if (!this.#works(kind, node)) return;
    this.faults.begin(kind, `nats/${node}`);
    this.#down.set(node, kind);
    await act();
  }

  #works(kind: string, node: number): boolean {
    if (!this.#down.has(node) && !this.#paused.has(node)) return true;
    this.faults.missed(kind, `nats/${node}`, this.#paused.has(node) ? 'it is paused' : 'it is down');
    return false;
  }
}
