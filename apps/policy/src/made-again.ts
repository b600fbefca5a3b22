import { isSettled } from '@intendant/contracts';
import { type Intent, isTerminal, outcomeOf } from '@intendant/intent';

/** A person has said no, and that stands. */
const saidNo: ReadonlySet<string> = new Set(['approval_refused', 'denied_before']);

/**
 * True where the same call, without a step, is a new one: this one is over, and it only read, or has provably done nothing.
 * Whatever may have taken effect, or may yet, is the answer to it (docs/decisions/0028).
 */
export function mayBeMadeAgain(intent: Intent): boolean {
  if (intent.state === 'denied' && saidNo.has(intent.failure.code)) return false;
  if (intent.proposal.terms.effect === 'read') return isSettled(intent.state);
  return isTerminal(intent) && outcomeOf(intent) === 'not_executed';
}
