import type { EventType } from './events.js';
import { terminalStates } from './state.js';
import type { Effect } from './terms.js';

/** After none of these there is anybody who could still find something. */
export const doubts = ['outcome_unknown', 'accepted'] as const satisfies readonly EventType[];

/**
 * True when nothing can be added to this log any more. One that ended after its outcome had been in doubt may still be
 * corrected: by an attempt that was given up and reports late, or by a lookup that was under way.
 *
 * @param types of all events of one intent.
 */
export function isFinished(types: readonly EventType[], effect: Effect): boolean {
  const has = (...wanted: readonly EventType[]) => wanted.some((type) => types.includes(type));
  if (!has(...terminalStates)) return false;
  if (effect === 'read' || !has(...doubts)) return true;
  // Its only attempt was never ruled out, so whatever comes late tells of the effect that is counted.
  const attempts = types.filter((type) => type === 'attempt_started').length;
  return attempts === 1 && has('committed') && !has('lookup_absent', 'attempt_not_executed');
}
