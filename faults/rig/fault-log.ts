import { MachineTime } from '../../examples/upstream/machine-time.js';
import type { FaultEntry } from '../history/faults.js';
import type { FaultLog } from './installation.js';

/** Ms since the epoch with a fraction, as the upstream's ledger tells time. */
export function rigTime(): number {
  return time.now();
}

const time = new MachineTime();

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
