import type { ToolPromise } from '../history/history.js';
import { onItsWayMs } from './operator.js';
import type { Permanent } from './plan-topology.js';
import { toolName } from './tools.js';

/** What the services wait at most before they take something up again, in ms. */
const service = {
  /** NATS delivers again what was given to a process that died (busWindows.ackWaitMs). */
  redelivery: 30_000,
  /** The longer an intent has waited, the later it is announced again, up to this (claimUnheard). */
  announceAgain: 60_000,
  /** Other sweepers leave an intent alone that one claimed and died over (RescueStuck, AskUpstream). */
  rescueClaim: 10_000,
  askClaim: 30_000,
} as const;
/** The longest `lookup.deadline` and `poll.deadline` of faults/tools. No pause between two questions is longer. */
export const longestDeadlineMs = 20_000;
/** An operator looks after a dead letter this soon, and agents ask again this late. */
const peopleMs = onItsWayMs + 10_000;
/** A dozen processes share the machine, perhaps with another round. */
const slowMachineMs = 20_000;

/**
 * How long after the heal everything must have come to rest, in ms: the longest way that one intent can take. It waits
 * for its turn, then for what became of it; an operator replays it, and it is asked about once more.
 */
export function boundMs(tools: Readonly<Record<string, ToolPromise>>, permanent: Permanent | null): number {
  const longest = (of: (tool: ToolPromise) => number) => Math.max(...Object.values(tools).map(of));
  const orphaned = longest(({ leaseMs }) => leaseMs) + service.rescueClaim + service.askClaim;
  const turn = Math.max(service.redelivery, service.announceAgain, orphaned);
  const known = longest(({ settleMs, spacingMs }) => settleMs + 2 * spacingMs);
  // The next question may be as far away as all those before took together; then the upstream answers, unless it never does.
  const asked = longestDeadlineMs;
  const silent = permanent?.kind === 'silent_lookups' ? tools[toolName(permanent.tool)] : undefined;
  const givenUp = silent ? silent.settleMs + longestDeadlineMs + asked : 0;
  const once = known + asked + givenUp;
  return turn + once + peopleMs + once + slowMachineMs;
}
