import type { LoadResult } from './load-job.js';
import type { PeerName } from './peers.js';
import type { SystemName } from './systems.js';

/** Whatever is measured: Intendant in its two shapes, the yardstick, and the peers. */
export type Measured = SystemName | PeerName;

type Latency = Pick<LoadResult, 'p50' | 'p95' | 'p99'>;
/** By process, or by stream. */
export type Named = Readonly<Record<string, number>>;

/** Counts per intent under full load; they hardly depend on the speed of the machine. */
export interface Counts {
  /** Transactions of PostgreSQL, reading ones included. */
  readonly transactions: number;
  readonly walBytes: number;
  /** Messages that JetStream stored, by stream; empty for a system without it. */
  readonly messages: Named;
  /** Cores that the system uses with nothing to do. */
  readonly idleCores: number;
}

/** What one load of so many requests in flight showed. Times in ms. */
export interface UnderLoad {
  readonly inFlight: number;
  readonly perSecond: number;
  readonly loaded: Latency;
  /** CPU seconds per 1,000 intents, by process. */
  readonly cpu: Named;
  readonly cpuTotal: number;
  /**
   * Cores that neither the processes of the system nor the benchmark used: the kernel's threads for disk and network,
   * and other work on the machine, of which any makes a figure worthless.
   */
  readonly otherCores: number;
}

/** One measurement of one system: the first load, and what else was asked of it. Times in ms, memory in MiB. */
export interface Figures extends UnderLoad {
  readonly system: Measured;
  readonly round: number;
  readonly oneAtATime: Latency;
  /** The further loads, with fewer in flight. */
  readonly further: readonly UnderLoad[];
  /** Resident after the start, before any work. */
  readonly idleMiB: Named;
  /** Resident at the end. */
  readonly loadedMiB: Named;
  /** Null where they were not taken: waiting for them takes long, and once a run is enough. */
  readonly counts: Counts | null;
}
