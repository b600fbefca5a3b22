import type { BusDump } from './bus.js';
import type { ClientEntry } from './clients.js';
import type { DatabaseDump } from './database.js';
import type { FaultEntry } from './faults.js';
import type { LedgerEntry } from './ledger.js';
import type { ProcessEntry } from './processes.js';
import type { SentEntry } from './sent.js';

/**
 * Everything that was written down about one round, by the parties themselves and after the round was frozen: what
 * the checker judges by, and all it needs. All times are ms since the epoch with a fraction, on the clock of the one
 * machine that a round runs on, unless a field says otherwise.
 */
export interface History {
  readonly meta: HistoryMeta;
  /** Of all agents and operators, in the order of their time. */
  readonly clients: readonly ClientEntry[];
  /** Of the upstream, in the order of its own writing. */
  readonly ledger: readonly LedgerEntry[];
  readonly faults: readonly FaultEntry[];
  /** Left out where nobody watched the senders. */
  readonly sent?: readonly SentEntry[];
  readonly database: DatabaseDump;
  readonly bus: BusDump;
  readonly processes: readonly ProcessEntry[];
}

export interface HistoryMeta {
  readonly name: string;
  readonly seed: number;
  readonly startedAt: number;
  /** From here on nothing is broken any more, except what stays broken by plan. */
  readonly healedAt: number;
  /** When everything was at rest, or when waiting for that was given up. */
  readonly frozenAt: number;
  /** How long after `healedAt` every intent must have come to rest, in ms. */
  readonly boundMs: number;
  /** What the tools of the round promise, by name. */
  readonly tools: Readonly<Record<string, ToolPromise>>;
  /** Faults that are never healed, as sentences; what they excuse, the checker has to be told in `excuses`. */
  readonly permanent: readonly string[];
  readonly excuses: Excuses;
}

/** What cannot be asked of a round because of what was broken in it for good. Nothing else is excused. */
export interface Excuses {
  /** Stored messages were lost or turned back: the stream does not tell all that was published. */
  readonly streamsLost: boolean;
  /**
   * Intents, by `ref`, whose upstream broke what its tool declares: more than one effect must be told, not prevented, and an
   * effect may come after it was said that there is none.
   */
  readonly beyondLimits: readonly string[];
  /** Upstream questions that are never answered: intents of these tools may end as dead letters for want of an answer. */
  readonly silentTools: readonly string[];
}

export interface ToolPromise {
  readonly effect: 'read' | 'write' | 'destructive';
  readonly guarantee: 'idempotency_key' | 'conditional_create' | 'lookup' | 'none';
  /** Times in ms, as the tool file declares them. */
  readonly settleMs: number;
  readonly spacingMs: number;
  readonly retentionMs: number;
  readonly leaseMs: number;
  readonly maxAttempts: number;
  /** Whether an absence in the lookup proves anything. */
  readonly authoritative: boolean;
}
