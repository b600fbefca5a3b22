import { performance } from 'node:perf_hooks';
import type { FaultEntry } from '../history/faults.js';
import type { FaultLog } from './installation.js';

/** Ms since the epoch with a fraction, as the upstream's ledger tells time. */
export function rigTime(): number {
  return Math.round((performance.timeOrigin + performance.now()) * 1000) / 1000;
}

export class RigFaultLog implements FaultLog {
  readonly entries: FaultEntry[] = [];

  add(entry: Omit<FaultEntry, 'at'>): void {
    this.entries.push({ at: rigTime(), ...entry });
  }

  begin(kind: string, target: string, detail?: FaultEntry['detail']): void {
    this.add({ kind, phase: 'begin', target, ...(detail && { detail }) });
  }

  end(kind: string, target: string, detail?: FaultEntry['detail']): void {
    this.add({ kind, phase: 'end', target, ...(detail && { detail }) });
  }

  /** Ordered, and it did not happen. */
  missed(kind: string, target: string, why: string): void {
    this.add({ kind, phase: 'begin', target, detail: { why }, happened: false });
  }
}
