/** Where an intent can be, as the checker understands the product; `none` is before its first event. */
export type State =
  | 'none'
  | 'pending'
  | 'awaiting_approval'
  | 'authorized'
  | 'dispatching'
  | 'accepted'
  | 'unknown'
  | 'dead_lettered'
  | 'committed'
  | 'failed'
  | 'denied'
  | 'cancelled'
  | 'expired';

interface Step {
  readonly from: readonly State[];
  /** Null: it stays where it is. */
  readonly to: State | null;
}

/**
 * Every event that the log may hold, where it may come and where it leads. Written down from the design and by no means
 * taken from the code that is judged: a mistake there must not be made here as well.
 */
const steps: Readonly<Record<string, Step>> = {
  recorded: { from: ['none'], to: 'pending' },
  approval_requested: { from: ['pending', 'awaiting_approval', 'authorized'], to: 'awaiting_approval' },
  approved: { from: ['awaiting_approval'], to: null },
  approval_withdrawn: { from: ['awaiting_approval', 'authorized'], to: 'awaiting_approval' },
  refused: { from: ['awaiting_approval', 'authorized'], to: null },
  denied: { from: ['pending', 'awaiting_approval', 'authorized'], to: 'denied' },
  authorized: { from: ['pending', 'awaiting_approval', 'unknown'], to: 'authorized' },
  attempt_started: { from: ['authorized'], to: 'dispatching' },
  attempt_not_executed: { from: ['dispatching', 'accepted', 'unknown'], to: 'pending' },
  accepted: { from: ['awaiting_approval', 'authorized', 'dispatching', 'unknown'], to: 'accepted' },
  outcome_unknown: { from: ['pending', 'awaiting_approval', 'authorized', 'dispatching'], to: 'unknown' },
  lookup_absent: { from: ['unknown'], to: null },
  lookup_inconclusive: { from: ['unknown', 'accepted'], to: null },
  committed: {
    from: ['pending', 'awaiting_approval', 'authorized', 'dispatching', 'accepted', 'unknown', 'dead_lettered'],
    to: 'committed',
  },
  failed: { from: ['pending', 'accepted', 'unknown', 'dead_lettered'], to: 'failed' },
  dead_lettered: { from: ['pending', 'awaiting_approval', 'authorized', 'accepted', 'unknown'], to: 'dead_lettered' },
  replay_requested: { from: ['dead_lettered'], to: 'unknown' },
  resolved: { from: ['accepted', 'unknown', 'dead_lettered'], to: null },
  cancelled: { from: ['awaiting_approval', 'authorized'], to: 'cancelled' },
  cancel_requested: { from: ['awaiting_approval', 'authorized', 'dispatching', 'unknown'], to: null },
  expired: { from: ['awaiting_approval', 'authorized', 'unknown'], to: 'expired' },
  corrected: {
    from: [
      'awaiting_approval',
      'authorized',
      'dispatching',
      'dead_lettered',
      'committed',
      'failed',
      'cancelled',
      'expired',
    ],
    to: null,
  },
  reviewed: { from: ['committed'], to: null },
};

/** The state after `event` in `state`; null where it must not come there. */
export function stateAfter(state: State, event: string): State | null {
  const step = steps[event];
  if (!step?.from.includes(state)) return null;
  return step.to ?? state;
}

const terminal: ReadonlySet<string> = new Set(['committed', 'failed', 'denied', 'cancelled', 'expired']);

export function isTerminal(state: string): boolean {
  return terminal.has(state);
}

/** Nothing more happens by itself. */
export function isAtRest(state: string): boolean {
  return isTerminal(state) || state === 'dead_lettered';
}

/** States that say for good that nothing happened. */
export function saysNotExecuted(state: string): boolean {
  return isTerminal(state) && state !== 'committed';
}

/** Events that are published. */
const announced: ReadonlySet<string> = new Set([
  ...terminal,
  'approval_requested',
  'outcome_unknown',
  'dead_lettered',
  'corrected',
]);

export function isPublic(event: string): boolean {
  return announced.has(event);
}

/** Why an intent may wait for a person. */
export const deadLetterReasons: ReadonlySet<string> = new Set([
  'no_way_to_tell',
  'absence_not_provable',
  'lookup_deadline',
  'key_retention_passed',
  'attempts_exhausted',
  'authority_expired',
  'partial_effect',
  'poll_deadline',
  'adapter_missing',
]);
