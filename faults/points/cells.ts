import type { Behaviour } from '../../examples/upstream/behaviour.js';
import type { Role } from '../rig/installation.js';
import type { ToolKind } from '../rounds/tools.js';

export const actions = ['kill', 'pause', 'throw'] as const;
export type Action = (typeof actions)[number];

/** How a replica is brought to its point. */
export type Way =
  /** Agents submit. */
  | 'submit'
  /** Agents publish to the stream of submissions. */
  | 'publish'
  /** Agents submit, and cancel at once. */
  | 'cancel'
  /** Agents submit what needs a person, and somebody agrees to it. */
  | 'approve'
  /** What a dispatcher could not publish is left to the relay. */
  | 'leave'
  /** It is told to stop while agents submit. */
  | 'stop';

/** One combination: a replica of this role meets this point, and what its upstream did with what it had in hand. */
export interface Cell {
  readonly role: Role;
  readonly point: string;
  /** Which visit of the point is meant. */
  readonly nth: number;
  readonly way: Way;
  readonly action: Action;
  /** What the upstream does with requests that are on their way; null where none can be. */
  readonly executed: boolean | null;
}

type Visit = Pick<Cell, 'role' | 'point' | 'way'> & { readonly nth?: number; readonly both?: boolean };

/**
 * Which points each role comes to, and how. `both`: a request may have left before, so it makes a difference whether the
 * upstream executed it. The first change a dispatcher writes is the start of an attempt; the second knows of its end.
 */
const visits: readonly Visit[] = [
  { role: 'policy', point: 'door.before_append', way: 'submit' },
  { role: 'policy', point: 'door.after_append', way: 'submit' },
  { role: 'policy', point: 'outbox.before_publish', way: 'submit' },
  { role: 'policy', point: 'outbox.after_publish', way: 'submit' },
  { role: 'policy', point: 'bus.before_ack', way: 'submit' },
  { role: 'policy', point: 'policy.before_reply', way: 'submit' },
  { role: 'policy', point: 'door.before_append', way: 'publish' },
  { role: 'policy', point: 'policy.before_ack', way: 'publish' },
  { role: 'gateway', point: 'door.before_append', way: 'cancel' },
  { role: 'gateway', point: 'door.after_append', way: 'cancel' },
  { role: 'gateway', point: 'door.before_append', way: 'approve' },
  { role: 'gateway', point: 'door.after_append', way: 'approve' },
  { role: 'gateway', point: 'gateway.before_reply', way: 'approve' },
  { role: 'outbox-relay', point: 'relay.after_claim', way: 'leave' },
  { role: 'outbox-relay', point: 'bus.before_ack', way: 'leave' },
  { role: 'outbox-relay', point: 'relay.after_publish', way: 'leave' },
  { role: 'dispatcher', point: 'dispatcher.after_ring', way: 'submit' },
  { role: 'dispatcher', point: 'dispatcher.after_preview', way: 'approve' },
  { role: 'dispatcher', point: 'dispatcher.after_verify', way: 'approve' },
  { role: 'dispatcher', point: 'door.before_append', way: 'submit' },
  { role: 'dispatcher', point: 'dispatcher.before_ack', way: 'submit', both: true },
  { role: 'dispatcher', point: 'dispatcher.after_start', way: 'submit', both: true },
  { role: 'dispatcher', point: 'dispatcher.before_send', way: 'submit', both: true },
  { role: 'dispatcher', point: 'dispatcher.after_send', way: 'submit', both: true },
  { role: 'dispatcher', point: 'dispatcher.after_answer', way: 'submit', both: true },
  { role: 'dispatcher', point: 'door.before_append', way: 'submit', nth: 2, both: true },
  { role: 'dispatcher', point: 'door.after_append', way: 'submit', nth: 2, both: true },
  { role: 'dispatcher', point: 'dispatcher.after_verdict', way: 'submit', both: true },
  { role: 'dispatcher', point: 'outbox.before_publish', way: 'submit', both: true },
  { role: 'dispatcher', point: 'bus.before_ack', way: 'submit', both: true },
  { role: 'dispatcher', point: 'outbox.after_publish', way: 'submit', both: true },
  { role: 'reconciler', point: 'reconciler.after_claim', way: 'submit', both: true },
  { role: 'reconciler', point: 'reconciler.after_lookup', way: 'submit', both: true },
  { role: 'reconciler', point: 'door.before_append', way: 'submit', both: true },
  { role: 'reconciler', point: 'door.after_append', way: 'submit', both: true },
  { role: 'reconciler', point: 'reconciler.after_decision', way: 'submit', both: true },
  { role: 'reconciler', point: 'outbox.before_publish', way: 'submit', both: true },
  { role: 'reconciler', point: 'outbox.after_publish', way: 'submit', both: true },
  { role: 'policy', point: 'shutdown.before_quiesce', way: 'stop' },
  { role: 'policy', point: 'shutdown.before_close', way: 'stop' },
  { role: 'gateway', point: 'shutdown.before_quiesce', way: 'stop' },
  { role: 'outbox-relay', point: 'shutdown.before_quiesce', way: 'stop' },
  { role: 'dispatcher', point: 'shutdown.before_quiesce', way: 'stop', both: true },
  { role: 'dispatcher', point: 'shutdown.before_close', way: 'stop', both: true },
  { role: 'reconciler', point: 'shutdown.before_quiesce', way: 'stop', both: true },
];

/** Every point of every role with every action and outcome. */
export const cells: readonly Cell[] = visits.flatMap(({ role, point, way, nth = 1, both = false }) =>
  (both ? [true, false] : [null]).flatMap((executed) =>
    actions.map((action): Cell => ({ role, point, nth, way, action, executed })),
  ),
);

/** Such as `dispatcher dispatcher.after_send kill executed`; unique. */
export function nameOf({ role, point, nth, way, action, executed }: Cell): string {
  const words = [role, nth === 1 ? point : `${point}:${nth}`, action];
  if (way === 'publish') words.push('published');
  if (way === 'approve') words.push('approved');
  if (executed !== null) words.push(executed ? 'executed' : 'not executed');
  return words.join(' ');
}

/**
 * The tools whose calls are in hand. A process that is stopped after its last look at the lease sends when it goes on,
 * whatever has become of the attempt meanwhile; only a key that the upstream remembers helps then (docs/outcomes.md).
 */
export function toolsOf({ point, action, way }: Cell): readonly ToolKind[] {
  if (way === 'approve') return ['agreed'];
  const onItsWay = point === 'dispatcher.after_send' && action === 'pause';
  return onItsWay ? ['keyed', 'conditional', 'keyonly', 'read'] : ['keyed', 'searched', 'keyonly', 'read'];
}

/** What the upstream does with the first request of a call: mostly nobody hears of it. */
export function behaviourOf(tool: ToolKind, { executed, way }: Cell): Behaviour | null {
  // Whoever stops has something on its way then.
  const slow = way === 'stop' ? { delayMs: 600 } : {};
  switch (executed) {
    case null:
      return null;
    case true:
      // Some answers are there, to be lost by whoever hears them.
      return { then: tool === 'keyonly' || tool === 'read' ? 'ok' : 'close', ...slow };
    case false:
      return { commit: false, then: tool === 'keyonly' ? 'status:400' : 'close', ...slow };
  }
}
