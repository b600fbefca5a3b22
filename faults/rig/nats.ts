import type { Machine } from '../machine.js';
import type { BreakableNats, Topology } from './installation.js';

export interface NatsOptions {
  readonly machine: Machine;
  /** Stores, configurations and logs go there. */
  readonly dir: string;
  /** `cluster`: three nodes; give the services INTENDANT_STREAM_REPLICAS=3 then. */
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

export type StartNats = (options: NatsOptions) => Promise<RigNats>;

/** Starts it; resolves when JetStream takes requests. Servers tell clients no addresses but the one they came by. */
export const startNats: StartNats = () => Promise.reject(new Error('NATS of the rig is not built yet'));
