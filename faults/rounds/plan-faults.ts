import type { Topology } from '../rig/installation.js';
import { type Breakage, kinds, type PlannedFault } from './fault-kinds.js';
import type { Random } from './random.js';

/** Between two faults of one thing, so that each meets it whole, in ms. */
export const gapMs = 400;

interface FaultOptions {
  readonly loadMs: number;
  readonly profile: { readonly faults: readonly string[]; readonly faultsPerMinute: number };
  readonly topology: Topology;
}

export function planFaults(random: Random, { loadMs, profile, topology }: FaultOptions): PlannedFault[] {
  const possible = kinds.filter(
    ({ kind }) => profile.faults.includes(kind) && (kind !== 'nats.leader' || topology.nats === 'cluster'),
  );
  if (possible.length === 0) return [];
  const wanted = Math.round((profile.faultsPerMinute * loadMs) / 60_000);
  const planned: PlannedFault[] = [];
  for (let n = 0; n < wanted; n += 1) {
    const { make, forMs } = random.weighted(possible);
    const lasts = random.whole(...forMs);
    const atMs = random.whole(1_000, Math.max(1_000, loadMs - lasts - 500));
    const fault = { ...make(random, topology), atMs, forMs: lasts };
    if (!planned.some((other) => inTheWay(fault, other))) planned.push(fault);
  }
  return planned.sort((a, b) => a.atMs - b.atMs);
}

/** One thing is broken in one way at a time. */
function inTheWay(one: PlannedFault, other: PlannedFault): boolean {
  if (thingOf(one) !== thingOf(other)) return false;
  return one.atMs < other.atMs + other.forMs + gapMs && other.atMs < one.atMs + one.forMs + gapMs;
}

/** What a fault is about: a replica, one of its legs, PostgreSQL, NATS. */
export function thingOf(fault: Breakage): string {
  if ('leg' in fault) return `${fault.replica}>${fault.leg}`;
  if ('replica' in fault) return fault.replica;
  // Orders to the upstream go beside each other.
  if (fault.kind === 'upstream') return JSON.stringify(fault);
  return fault.kind.split('.')[0] ?? fault.kind;
}
