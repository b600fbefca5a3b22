import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import type { Machine } from '../machine.js';
import { freePort } from './free-port.js';
import type { BreakableNats, Topology } from './installation.js';
import { NatsNode } from './nats-node.js';

export interface NatsOptions {
  readonly machine: Machine;
  /** Stores, configurations and logs go there. */
  readonly dir: string;
  /** `cluster`: three nodes. */
  readonly kind: Topology['nats'];
  readonly version: Topology['natsVersion'];
}

/** One nats-server, or three that form a cluster, with JetStream on disk, that can be broken. */
export interface RigNats extends BreakableNats {
  /** `nats://127.0.0.1:port` of each node, by its number; the same over restarts. */
  readonly urls: readonly string[];
  readonly ports: readonly number[];
  /** What services need in their environment to store with as many replicas as there are nodes. */
  readonly serviceEnvironment: Readonly<Record<string, string>>;
  /** Ends all nodes, whatever state they are in, and removes their stores. */
  close(): Promise<void>;
}

/** A cluster elects its leaders within seconds; a node that lost its store copies everything from the others. */
const healthyMs = 20_000;
const starts = 3;
/** How long after it is healthy a cluster may take to place its first stream, in ms. */
const placedMs = 8_000;

/** Starts it; resolves when JetStream takes requests. Servers tell clients no addresses but the one they came by. */
export async function startNats({ machine, dir, kind, version }: NatsOptions): Promise<RigNats> {
  const count = kind === 'cluster' ? 3 : 1;
  const ports = await freePorts(count);
  const nodes = await layOut({ binary: binaryOf(machine, version), dir, ports });
  const nats = new Nats(nodes, ports);
  try {
    await nats.startAll();
  } catch (error) {
    await nats.close();
    throw error;
  }
  return nats;
}

function binaryOf(machine: Machine, version: NatsOptions['version']): string {
  if (version === 'current') return machine.nats;
  if (machine.oldNats) return machine.oldNats;
  throw new Error('this machine has no nats-server 2.9: name one in INTENDANT_OLD_NATS_BIN');
}

async function layOut({ binary, dir, ports }: { binary: string; dir: string; ports: readonly number[] }) {
  const monitors = await freePorts(ports.length);
  const routes = await freePorts(ports.length);
  return ports.map((port, i) => {
    const [monitorPort = 0, routePort = 0] = [monitors[i], routes[i]];
    const cluster = ports.length > 1 ? { port: routePort, routes } : null;
    return new NatsNode({ binary, dir: path.join(dir, `nats-${i}`), name: `nats-${i}`, port, monitorPort, cluster });
  });
}

async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await freePort());
  return [...ports];
}

class Nats implements RigNats {
  readonly urls: readonly string[];
  readonly serviceEnvironment: Readonly<Record<string, string>>;
  readonly #all: readonly NatsNode[];
  #copied = false;

  constructor(
    nodes: readonly NatsNode[],
    readonly ports: readonly number[],
  ) {
    this.#all = nodes;
    this.urls = ports.map((port) => `nats://127.0.0.1:${port}`);
    this.serviceEnvironment = nodes.length > 1 ? { INTENDANT_STREAM_REPLICAS: String(nodes.length) } : {};
  }

  get nodes(): number {
    return this.#all.length;
  }

  /**
   * About one of thirty clusters comes up healthy and never places a stream, "no suitable peers for placement": its
   * nodes have not heard of each other's JetStream (seen with 2.10.27). Such a one is started again.
   */
  async startAll(): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      await this.#start(this.#all);
      if (this.nodes === 1 || (await this.#placesStreams())) return;
      if (attempt === starts) throw new Error(`the cluster places no stream, also after ${starts} starts`);
      await Promise.all(this.#all.map((node) => node.end('SIGTERM')));
    }
  }

  kill = (node: number) => this.#node(node).end('SIGKILL');
  stop = (node: number) => this.#node(node).end('SIGTERM');
  start = (node: number) => this.#start([this.#node(node)]);
  pause = (node: number) => this.#node(node).pause();
  resume = (node: number) => this.#node(node).resume();

  async wipe(nodes: readonly number[]): Promise<void> {
    const wiped = nodes.map((node) => this.#node(node));
    await Promise.all(wiped.map((node) => node.end('SIGTERM')));
    for (const node of wiped) node.removeStore();
    await (wiped.length === this.nodes ? this.startAll() : this.#start(wiped));
  }

  async snapshot(): Promise<void> {
    const writing = this.#all.filter((node) => node.serves);
    for (const node of writing) node.pause();
    try {
      for (const node of this.#all) node.copyStore();
      this.#copied = true;
    } finally {
      for (const node of writing) node.resume();
    }
  }

  async restore(): Promise<void> {
    if (!this.#copied) throw new Error('there is no copy to restore from: call snapshot() before');
    await Promise.all(this.#all.map((node) => node.end('SIGTERM')));
    for (const node of this.#all) node.useCopy();
    await this.startAll();
  }

  async deleteConsumer(stream: string, durable: string): Promise<void> {
    await this.#manage((manager) => manager.consumers.delete(stream, durable));
  }

  async deleteStream(stream: string): Promise<void> {
    await this.#manage((manager) => manager.streams.delete(stream));
  }

  async leaderOf(stream: string): Promise<number> {
    if (this.nodes === 1) return 0;
    const { cluster } = await this.#manage((manager) => manager.streams.info(stream));
    const leader = this.#all.findIndex(({ name }) => name === cluster?.leader);
    if (leader < 0) throw new Error(`stream ${stream} has no leader`);
    return leader;
  }

  async close(): Promise<void> {
    await Promise.all(this.#all.map((node) => node.end('SIGKILL')));
    for (const node of this.#all) node.removeAll();
  }

  /** Resolves when they are healthy; without a majority of the cluster they cannot become so, and are not waited for. */
  async #start(nodes: readonly NatsNode[]): Promise<void> {
    await Promise.all(nodes.map((node) => node.start()));
    const majority = this.#all.filter((node) => node.serves).length * 2 > this.nodes;
    if (majority) await Promise.all(nodes.map((node) => this.#untilHealthy(node)));
  }

  /** As whoever watches over servers does: one that stays unwell, such as without the monitor of a consumer, starts again. */
  async #untilHealthy(node: NatsNode): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await node.whenHealthy(healthyMs);
      } catch (error) {
        if (attempt === starts) throw error;
        await node.end('SIGTERM');
        await node.start();
      }
    }
  }

  async #placesStreams(): Promise<boolean> {
    const until = performance.now() + placedMs;
    const probe = { name: 'RIG_PROBE', subjects: ['rig.probe'], num_replicas: this.nodes };
    while (performance.now() < until) {
      try {
        await this.#manage(async ({ streams }) => {
          await streams.add(probe);
          await streams.delete(probe.name);
        });
        return true;
      } catch {
        // Leaders are elected within a second or two.
        await pause(100);
      }
    }
    return false;
  }

  #node(index: number): NatsNode {
    const node = this.#all[index];
    if (!node) throw new Error(`there is no node ${index}, only 0 to ${this.nodes - 1}`);
    return node;
  }

  async #manage<T>(work: (manager: JetStreamManager) => Promise<T>): Promise<T> {
    const servers = this.urls.filter((_, i) => this.#all[i]?.serves);
    const connection = await connect({ servers, name: 'rig', reconnect: false });
    try {
      return await work(await jetstreamManager(connection, { checkAPI: false }));
    } finally {
      await connection.close();
    }
  }
}
