import type { FaultEntry } from '../history/faults.js';
import type { History } from '../history/history.js';

/** How long the nodes of a cluster take at most to have again what they missed, in ms. */
const catchUpMs = 15_000;

/**
 * The last time that a stream may have lost what it held; minus infinity where it never did. All copies have to be gone:
 * a cluster keeps three, so one node without its store loses nothing while the others are there.
 */
export function streamLostAt(history: History, stream: string): number {
  if (!history.meta.excuses.streamsLost) return Number.NEGATIVE_INFINITY;
  const losses = history.faults.filter((fault) => fault.happened !== false && loses(fault, stream, history.faults));
  return Math.max(Number.NEGATIVE_INFINITY, ...losses.map(({ at }) => at));
}

function loses(fault: FaultEntry, stream: string, all: readonly FaultEntry[]): boolean {
  switch (fault.kind) {
    case 'nats.restore':
      return true;
    case 'nats.delete_stream':
      return fault.target === stream;
    case 'nats.wipe':
      return !isCluster(all) || all.some((other) => isNearby(other, fault));
    default:
      return false;
  }
}

/** Only a cluster has a second node that anything could happen to. */
function isCluster(all: readonly FaultEntry[]): boolean {
  return all.some(({ target }) => /^nats\/[1-9]/.test(target));
}

/** Another node was not there, or not whole, at about that time. */
function isNearby({ kind, target, at, happened }: FaultEntry, wipe: FaultEntry): boolean {
  if (happened === false || target === wipe.target || !/^nats\/\d/.test(target)) return false;
  return kind.startsWith('nats.') && Math.abs(at - wipe.at) <= catchUpMs;
}
