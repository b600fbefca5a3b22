import type { BusDump } from '../history/bus.js';
import type { DatabaseDump } from '../history/database.js';
import type { FaultEntry } from '../history/faults.js';
import type { LedgerEntry } from '../history/ledger.js';
import type { ProcessEntry } from '../history/processes.js';
import type { SentEntry } from '../history/sent.js';
import type { Machine } from '../machine.js';

export const roles = ['gateway', 'policy', 'outbox-relay', 'dispatcher', 'reconciler'] as const;
export type Role = (typeof roles)[number];
/** `dispatcher/2`, counted from 0. */
export type ReplicaName = `${Role}/${number}`;
/** The connections of one replica that can be broken on their own. */
export type Leg = 'postgres' | 'nats' | 'upstream';

export interface Topology {
  readonly replicas: Readonly<Record<Role, number>>;
  /** `cluster`: three nodes, every stream with three replicas. */
  readonly nats: 'single' | 'cluster';
  readonly natsVersion: 'current' | 'old';
  /** What a replica's own clock is ahead of the true one, in ms; those that are not named are right. */
  readonly clockOffsetsMs: Readonly<Partial<Record<ReplicaName, number>>>;
  /** Values of INTENDANT_FAULT, which make a replica die, stall or fail at a point of its code. */
  readonly faultPoints: Readonly<Partial<Record<ReplicaName, string>>>;
}

export interface InstallationOptions {
  readonly machine: Machine;
  readonly topology: Topology;
  /** Own directory: data, stores, logs, ledger. */
  readonly dir: string;
  readonly toolsDir: string;
}

/**
 * A whole installation that can be broken in every way that the promise has to survive: PostgreSQL with fsync, one
 * nats-server or a cluster, an upstream with a ledger, and every service in several replicas, each a process of its own
 * whose connections go through proxies of its own. Whatever is done to it is written into its fault log.
 */
export interface Installation {
  readonly processes: Processes;
  readonly wires: Wires;
  readonly postgres: BreakablePostgres;
  readonly nats: BreakableNats;
  readonly upstream: Oracle;
  /** For clients: base URLs of the gateways; the ports stay when a gateway is started again. */
  readonly gatewayUrls: readonly string[];
  /** For clients and listeners, past all proxies. */
  readonly natsUrls: readonly string[];
  /** As the owner, past all proxies. */
  readonly databaseUrl: string;
  readonly tenant: string;
  readonly serviceKey: string;
  readonly operatorKey: string;
  /** Oldest first; other parts of the rig add what they do themselves. */
  readonly faults: FaultLog;
  /**
   * Mends everything: wires, servers, processes that are not `leaveStopped`. Resolves when all that run are ready, with the
   * time when wires and servers were, in ms since the epoch.
   */
  heal(leaveStopped?: readonly ReplicaName[]): Promise<number>;
  /** What there is to judge by, once everything is at rest. */
  collect(): Promise<Collected>;
  /** Ends all processes; nothing of them is left. */
  close(): Promise<void>;
}

export interface Collected {
  readonly ledger: readonly LedgerEntry[];
  readonly sent: readonly SentEntry[];
  readonly database: DatabaseDump;
  readonly bus: BusDump;
  readonly processes: readonly ProcessEntry[];
  readonly faults: readonly FaultEntry[];
}

export interface FaultLog {
  readonly entries: readonly FaultEntry[];
  add(entry: Omit<FaultEntry, 'at'>): void;
}

/** Faults of processes. A replica that is dead or paused already is left as it is, and the log says so. */
export interface Processes {
  readonly names: readonly ReplicaName[];
  /** SIGKILL. It stays dead until `start`. */
  kill(name: ReplicaName): Promise<void>;
  /** SIGTERM, waits for its end. */
  stop(name: ReplicaName): Promise<void>;
  /** Starts it again and resolves when it is ready, or when it has ended; with a value of INTENDANT_FAULT, armed. */
  start(name: ReplicaName, faultPoint?: string): Promise<void>;
  /** SIGSTOP: its connections stay open, its leases run out. */
  pause(name: ReplicaName): void;
  resume(name: ReplicaName): void;
  /** Its event loop does nothing for that long, in ms. */
  block(name: ReplicaName, ms: number): void;
  /** Resolves when it has ended or, armed with `pause`, has stopped; rejects after `timeoutMs`. */
  struck(name: ReplicaName, timeoutMs: number): Promise<'ended' | 'paused'>;
  state(name: ReplicaName): 'running' | 'paused' | 'stopped';
}

/** Which bytes of a connection are lost: those after `bytes` in that direction, counted from when it was ordered. */
export interface WireCut {
  readonly direction: 'to_client' | 'to_server';
  /** Text the client sends that starts the count, such as `COMMIT`; left out, it starts at once. */
  readonly after?: string;
  readonly bytes: number;
}

/** Faults of connections. A leg has one proxy; everything a replica sends over it is affected. */
export interface Wires {
  /** Resets the next connection that fits, once; resolves when it happened, or with false when `timeoutMs` pass. */
  cut(name: ReplicaName, leg: Leg, cut: WireCut, timeoutMs: number): Promise<boolean>;
  /** Everything is delivered that much later, in ms; 0 ends it. */
  delay(name: ReplicaName, leg: Leg, ms: number): void;
  /** Bytes in that direction are swallowed while connections stay open; null ends it. */
  blackhole(name: ReplicaName, leg: Leg, direction: 'to_client' | 'to_server' | 'both' | null): void;
  /** Resets what is open and refuses what is new, until `mend`. */
  partition(name: ReplicaName, leg: Leg): void;
  /** Delivers in pieces of that many bytes; 0 ends it. */
  slice(name: ReplicaName, leg: Leg, bytes: number): void;
  mend(name: ReplicaName, leg: Leg): void;
}

export interface BreakablePostgres {
  /** `pg_ctl stop -m immediate`: as a power failure. */
  crash(): Promise<void>;
  /** Fast shutdown: sessions are ended in order. */
  stop(): Promise<void>;
  /** Starts it on the same port and data; resolves when it takes statements. */
  start(): Promise<void>;
  /** SIGSTOP for the postmaster and all its children. */
  pause(): void;
  resume(): void;
  /** `default_transaction_read_only`, for new and running sessions. */
  readOnly(on: boolean): Promise<void>;
  /** `pg_terminate_backend` of up to that many backends of services; returns how many. */
  terminateBackends(most: number): Promise<number>;
  /** Holds a transaction open that has locked a part of what services write; returns how to end it. */
  holdTransaction(): Promise<() => Promise<void>>;
  /** Takes up connections until none is left for services; returns how to end it. */
  exhaust(): Promise<() => Promise<void>>;
}

/** Faults of NATS; `node` is 0 for a single server, 0 to 2 in a cluster. */
export interface BreakableNats {
  readonly nodes: number;
  kill(node: number): Promise<void>;
  stop(node: number): Promise<void>;
  start(node: number): Promise<void>;
  pause(node: number): void;
  resume(node: number): void;
  /** Stops it, removes its store, starts it again. */
  wipe(nodes: readonly number[]): Promise<void>;
  /** Copies the stores of all nodes; for `restore`. */
  snapshot(): Promise<void>;
  /** Stops all nodes and starts them from the last copy. */
  restore(): Promise<void>;
  deleteConsumer(stream: string, durable: string): Promise<void>;
  deleteStream(stream: string): Promise<void>;
  /** The node that leads this stream; 0 for a single server. */
  leaderOf(stream: string): Promise<number>;
}

/** The upstream that knows what really happened. It is never broken itself, only told to misbehave. */
export interface Oracle {
  readonly url: string;
  /** A rule as `examples/upstream` takes it. */
  behave(rule: unknown): Promise<void>;
  /** From now on everybody is answered as asked, whatever was ordered before; effects that are on their way still come. */
  behaveWell(): Promise<void>;
  ledger(): Promise<readonly LedgerEntry[]>;
}

/** Starts one; resolves when every replica is ready, except those whose fault point struck before. */
export type StartInstallation = (options: InstallationOptions) => Promise<Installation>;
