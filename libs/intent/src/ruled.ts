import type { Ruling } from './commands.js';
import type { IntentEvent } from './events.js';

/** What a ruling makes of an intent. */
export function ruled(ruling: Ruling): IntentEvent {
  const reasons = ruling.reasons && { reasons: ruling.reasons };
  switch (ruling.allow) {
    case true:
      return { type: 'authorized', basis: 'admitted', notBefore: null, resendUntil: null, ...reasons };
    case 'approved':
      return { type: 'approval_requested', request: ruling.request, ...reasons };
    case false:
      return { type: 'denied', failure: ruling.failure, ...reasons };
  }
}
