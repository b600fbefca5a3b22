import { writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { ProcessEntry } from '../history/processes.js';
import type { RigFaultLog } from './fault-log.js';
import type { Processes, ReplicaName } from './installation.js';
import type { Replica } from './replica.js';

const pollMs = 25;
/** How long a service may take to get ready; several installations may start on a busy machine at once. */
const readyMs = 180_000;

/** The replicas of an installation and what is done to them, written down. */
export class RigProcesses implements Processes {
  readonly #replicas: ReadonlyMap<string, Replica>;
  /** Replicas that are paused by order, or at a fault point that was seen. */
  readonly #paused = new Map<string, string>();
  /** Replicas that are down by order, or by a fault point, and by which. */
  readonly #down = new Map<string, string>();
  /** Replicas whose fault point has struck since they were started. */
  readonly #struck = new Set<string>();
  #leftStopped: readonly string[] = [];

  constructor(
    readonly names: readonly ReplicaName[],
    replicas: readonly Replica[],
    private readonly faults: RigFaultLog,
  ) {
    this.#replicas = new Map(replicas.map((each) => [each.name, each]));
  }

  /** To be called when a fault point may have struck. */
  noteStrike(name: string): void {
    const replica = this.#replicas.get(name);
    if (replica) this.#noteStrike(replica, true);
  }

  /** Starts all at once. @throws when one does not get ready, unless its fault point struck. */
  async startAll(faultPoints: Readonly<Partial<Record<ReplicaName, string>>>): Promise<void> {
    await Promise.all(
      [...this.#replicas.values()].map(async (replica) => {
        await replica.start(faultPoints[replica.name as ReplicaName] ?? null);
        await replica.settled(readyMs);
        this.#noteStrike(replica);
      }),
    );
  }

  async kill(name: ReplicaName): Promise<void> {
    const replica = this.#running('kill', name);
    if (!replica) return;
    this.faults.begin('kill', name);
    this.#down.set(name, 'kill');
    await replica.kill();
  }

  async stop(name: ReplicaName): Promise<void> {
    const replica = this.#running('stop', name);
    if (!replica) return;
    this.faults.begin('stop', name);
    this.#down.set(name, 'stop');
    await replica.stop();
  }

  async start(name: ReplicaName, faultPoint?: string): Promise<void> {
    const replica = this.#of(name);
    if (replica.state !== 'stopped') {
      this.faults.missed('start', name, `it is ${replica.state}`);
      return;
    }
    this.#noteStrike(replica);
    const kind = this.#down.get(name) ?? 'kill';
    this.#down.delete(name);
    this.#struck.delete(name);
    await replica.start(faultPoint ?? null);
    this.faults.end(kind, name, faultPoint === undefined ? undefined : { faultPoint });
    this.#noteStrike(replica);
  }

  pause(name: ReplicaName): void {
    const replica = this.#running('pause', name);
    if (!replica) return;
    this.faults.begin('pause', name);
    this.#paused.set(name, 'pause');
    replica.signal('SIGSTOP');
  }

  resume(name: ReplicaName): void {
    const replica = this.#of(name);
    this.#noteStrike(replica);
    const kind = this.#paused.get(name);
    if (kind === undefined) {
      this.faults.missed('resume', name, `it is ${replica.state}`);
      return;
    }
    this.#paused.delete(name);
    replica.signal('SIGCONT');
    this.faults.end(kind, name);
  }

  block(name: ReplicaName, ms: number): void {
    const replica = this.#running('block', name);
    if (!replica) return;
    if (!replica.ready) {
      this.faults.missed('block', name, 'it is not ready');
      return;
    }
    this.faults.begin('block', name, { ms });
    writeFileSync(replica.blockFile, String(ms));
    replica.signal('SIGWINCH');
    setTimeout(() => this.faults.end('block', name), ms).unref();
  }

  async struck(name: ReplicaName, timeoutMs: number): Promise<'ended' | 'paused'> {
    const replica = this.#of(name);
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      if (replica.state !== 'running') {
        this.#noteStrike(replica);
        return replica.state === 'paused' ? 'paused' : 'ended';
      }
      if (performance.now() > deadline) {
        const armed = replica.fault === null ? 'no fault point is armed' : `${replica.fault} is armed`;
        throw new Error(`${name} neither ended nor stopped within ${timeoutMs} ms; ${armed}`);
      }
      await delay(pollMs);
    }
  }

  state(name: ReplicaName): 'running' | 'paused' | 'stopped' {
    return this.#of(name).state;
  }

  /**
   * Lets every replica run that is not left stopped, and disarms those whose fault point has not struck by starting them
   * again. @throws when one does not get ready.
   */
  async heal(leaveStopped: readonly ReplicaName[]): Promise<void> {
    this.#leftStopped = leaveStopped;
    await Promise.all(this.names.filter((name) => !leaveStopped.includes(name)).map((name) => this.#mend(name)));
  }

  entries(): ProcessEntry[] {
    return [...this.#replicas.values()].map((replica) => ({
      name: replica.name,
      expected: this.#leftStopped.includes(replica.name) ? 'stopped' : 'running',
      found: replica.state === 'running' ? 'running' : 'stopped',
      crashes: replica.crashes,
      errors: replica.errors(),
    }));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#replicas.values()].map((replica) => replica.kill()));
  }

  async #mend(name: ReplicaName): Promise<void> {
    const replica = this.#of(name);
    this.#noteStrike(replica);
    if (replica.state === 'paused') this.resume(name);
    if (replica.fault !== null && replica.state === 'running') {
      if (!this.#struck.delete(name)) this.faults.missed('fault_point', name, `${replica.fault} was never reached`);
      await replica.stop();
      await replica.start();
    } else if (replica.state === 'stopped' && !replica.startsAgain) await this.start(name);
    await replica.settled(readyMs);
  }

  /** Writes down, once, that a replica has met the fault point it was armed with. */
  #noteStrike(replica: Replica, seen = false): void {
    const { name, fault } = replica;
    if (fault === null || this.#struck.has(name) || this.#paused.has(name)) return;
    if (!replica.struck) return;
    const [point = '', nth = '', action = ''] = fault.split(':');
    // It ended by order, unless whoever saw it end says otherwise: it may meet a point on its way down.
    if (action === 'kill' && this.#down.has(name) && !seen) return;
    this.#struck.add(name);
    this.faults.begin('fault_point', name, { point, nth: Number(nth), action });
    if (action === 'pause') this.#paused.set(name, 'fault_point');
    if (action === 'kill') this.#down.set(name, 'fault_point');
  }

  #running(kind: string, name: ReplicaName): Replica | null {
    const replica = this.#of(name);
    if (replica.state === 'running' && !replica.stopping) return replica;
    this.#noteStrike(replica);
    this.faults.missed(kind, name, `it is ${replica.stopping ? 'stopping' : replica.state}`);
    return null;
  }

  #of(name: ReplicaName): Replica {
    const replica = this.#replicas.get(name);
    if (!replica) throw new Error(`there is no ${name}; there are ${this.names.join(', ')}`);
    return replica;
  }
}
