import type { Decision, Rejection } from './commands.js';
import type { IntentEvent } from './events.js';

export const unchanged: Decision = { kind: 'unchanged' };

export function accept(first: IntentEvent, ...rest: IntentEvent[]): Decision {
  return { kind: 'accepted', events: [first, ...rest] };
}

export function reject(reason: Rejection): Decision {
  return { kind: 'rejected', reason };
}
