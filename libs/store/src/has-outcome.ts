import { type Intent, isTerminal } from '@intendant/intent';

/** True when waiting longer tells the caller nothing new by itself. */
export function hasOutcome(intent: Intent): boolean {
  return isTerminal(intent) || intent.state === 'dead_lettered';
}
