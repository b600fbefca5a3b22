import { startTcpProxy, type TcpProxy } from '@intendant/testing';
import type { RigFaultLog } from './fault-log.js';
import type { Leg, ReplicaName, WireCut, Wires } from './installation.js';

/** Servers that a leg leads to; more than one are the nodes of a cluster. */
export type Targets = Readonly<Partial<Record<Leg, readonly number[]>>>;

interface Wire {
  readonly proxies: readonly TcpProxy[];
  /** Kinds of what is broken, so that mending tells the end of each. */
  readonly broken: Set<string>;
  /** Cuts that have not happened yet. */
  readonly orders: Set<AbortController>;
}

/** A proxy per replica and leg, or one per node where the leg leads to a cluster. */
export class RigWires implements Wires {
  private constructor(
    private readonly wires: ReadonlyMap<string, Wire>,
    private readonly faults: RigFaultLog,
  ) {}

  static async start(legs: ReadonlyMap<ReplicaName, Targets>, faults: RigFaultLog): Promise<RigWires> {
    const wires = new Map<string, Wire>();
    for (const [name, targets] of legs) {
      for (const [leg, ports] of Object.entries(targets)) {
        const proxies = await Promise.all(ports.map(startTcpProxy));
        wires.set(`${name}>${leg}`, { proxies, broken: new Set(), orders: new Set() });
      }
    }
    return new RigWires(wires, faults);
  }

  /** `url` by way of this leg; for a cluster, of the node with that position in the leg's targets. */
  through(name: ReplicaName, leg: Leg, url: string, node = 0): string {
    const proxy = this.#of(name, leg).proxies[node];
    if (!proxy) throw new Error(`${name}>${leg} leads to no node ${node}`);
    return proxy.through(url);
  }

  async cut(name: ReplicaName, leg: Leg, cut: WireCut, timeoutMs: number): Promise<boolean> {
    const { proxies, orders } = this.#of(name, leg);
    const order = new AbortController();
    orders.add(order);
    const timer = setTimeout(() => order.abort(), timeoutMs);
    const happened = await Promise.all(
      proxies.map(async (proxy) => {
        const cutHere = await proxy.cutOnce(cut, order.signal);
        order.abort();
        return cutHere;
      }),
    );
    clearTimeout(timer);
    orders.delete(order);
    const detail = { direction: cut.direction, after: cut.after ?? null, bytes: cut.bytes };
    if (happened.includes(true)) this.faults.begin('cut', `${name}>${leg}`, detail);
    else
      this.faults.missed('cut', `${name}>${leg}`, `no connection sent what it waits for: ${cut.after ?? 'anything'}`);
    return happened.includes(true);
  }

  delay(name: ReplicaName, leg: Leg, ms: number): void {
    this.#turn(name, leg, 'delay', ms > 0 && { ms }, (proxy) => proxy.delay(ms));
  }

  blackhole(name: ReplicaName, leg: Leg, direction: 'to_client' | 'to_server' | 'both' | null): void {
    this.#turn(name, leg, 'blackhole', direction !== null && { direction }, (proxy) => proxy.swallow(direction));
  }

  partition(name: ReplicaName, leg: Leg): void {
    this.#turn(name, leg, 'partition', {}, (proxy) => proxy.partition());
  }

  slice(name: ReplicaName, leg: Leg, bytes: number): void {
    this.#turn(name, leg, 'slice', bytes > 0 && { bytes }, (proxy) => proxy.slice(bytes));
  }

  mend(name: ReplicaName, leg: Leg): void {
    const { proxies, broken, orders } = this.#of(name, leg);
    for (const order of orders) order.abort();
    for (const proxy of proxies) proxy.heal();
    for (const kind of broken) this.faults.end(kind, `${name}>${leg}`);
    broken.clear();
  }

  mendAll(): void {
    for (const wire of this.wires.keys()) {
      const [name, leg] = wire.split('>');
      this.mend(name as ReplicaName, leg as Leg);
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.wires.values()].flatMap(({ proxies }) => proxies.map((proxy) => proxy.close())));
  }

  #turn(
    name: ReplicaName,
    leg: Leg,
    kind: string,
    on: false | Readonly<Record<string, string | number>>,
    turn: (proxy: TcpProxy) => void,
  ): void {
    const { proxies, broken } = this.#of(name, leg);
    for (const proxy of proxies) turn(proxy);
    if (on) this.faults.begin(kind, `${name}>${leg}`, on);
    else if (broken.has(kind)) this.faults.end(kind, `${name}>${leg}`);
    if (on) broken.add(kind);
    else broken.delete(kind);
  }

  #of(name: ReplicaName, leg: Leg): Wire {
    const wire = this.wires.get(`${name}>${leg}`);
    if (!wire) throw new Error(`there is no wire ${name}>${leg}; there are ${[...this.wires.keys()].join(', ')}`);
    return wire;
  }
}
