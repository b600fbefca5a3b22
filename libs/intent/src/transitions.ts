import type { EventType } from './events.js';
import type { StateName } from './state.js';

/** Where an intent can be: `none` is before the first event. */
export type Place = StateName | 'none';

/**
 * Every legal step: state, event, next state. `evolve` accepts nothing else, and the state diagram in
 * ARCHITECTURE.md is generated from it. `pending` is also where an intent stands between the proof that an
 * attempt did not run and the decision what follows from it; both are in one append, so it is never left there.
 */
export const transitions = {
  none: { recorded: 'pending' },
  pending: {
    approval_requested: 'awaiting_approval',
    authorized: 'authorized',
    denied: 'denied',
    failed: 'failed',
    committed: 'committed',
    outcome_unknown: 'unknown',
    dead_lettered: 'dead_lettered',
  },
  awaiting_approval: {
    approval_requested: 'awaiting_approval',
    approved: 'awaiting_approval',
    approval_withdrawn: 'awaiting_approval',
    refused: 'awaiting_approval',
    authorized: 'authorized',
    denied: 'denied',
    accepted: 'accepted',
    outcome_unknown: 'unknown',
    committed: 'committed',
    corrected: 'awaiting_approval',
    dead_lettered: 'dead_lettered',
    cancelled: 'cancelled',
    cancel_requested: 'awaiting_approval',
    expired: 'expired',
  },
  authorized: {
    attempt_started: 'dispatching',
    approval_requested: 'awaiting_approval',
    approval_withdrawn: 'awaiting_approval',
    refused: 'authorized',
    denied: 'denied',
    accepted: 'accepted',
    outcome_unknown: 'unknown',
    committed: 'committed',
    corrected: 'authorized',
    dead_lettered: 'dead_lettered',
    cancelled: 'cancelled',
    cancel_requested: 'authorized',
    expired: 'expired',
  },
  dispatching: {
    committed: 'committed',
    attempt_not_executed: 'pending',
    accepted: 'accepted',
    outcome_unknown: 'unknown',
    corrected: 'dispatching',
    cancel_requested: 'dispatching',
  },
  accepted: {
    committed: 'committed',
    attempt_not_executed: 'pending',
    lookup_inconclusive: 'accepted',
    dead_lettered: 'dead_lettered',
    resolved: 'accepted',
    failed: 'failed',
  },
  unknown: {
    committed: 'committed',
    accepted: 'accepted',
    attempt_not_executed: 'pending',
    lookup_absent: 'unknown',
    cancel_requested: 'unknown',
    lookup_inconclusive: 'unknown',
    authorized: 'authorized',
    dead_lettered: 'dead_lettered',
    resolved: 'unknown',
    failed: 'failed',
    expired: 'expired',
  },
  dead_lettered: {
    replay_requested: 'unknown',
    resolved: 'dead_lettered',
    corrected: 'dead_lettered',
    committed: 'committed',
    failed: 'failed',
  },
  committed: { corrected: 'committed', reviewed: 'committed' },
  failed: { corrected: 'failed' },
  denied: { corrected: 'denied' },
  cancelled: { corrected: 'cancelled' },
  expired: { corrected: 'expired' },
} as const satisfies Record<Place, Partial<Record<EventType, StateName>>>;

/** The state after `event` in `place`, or null where that step is not legal. */
export function nextState(place: Place, event: EventType): StateName | null {
  const steps: Partial<Record<EventType, StateName>> = transitions[place];
  return steps[event] ?? null;
}
