import type { Decision } from './commands.js';
import { accept, reject } from './decision.js';
import { endOfAuthority, unknownFrom } from './follow-up.js';
import type { Intent } from './state.js';

/** May the next wire attempt start? The answer is the last gate before the first byte. */
export function decideAttempt(attemptId: string, intent: Intent, now: number): Decision {
  if (intent.state !== 'authorized') return reject('not_authorized');
  // A command that comes again, later: its attempt is over, and no two attempts share an id.
  if (intent.attempts.some((a) => a.attemptId === attemptId)) return reject('not_authorized');
  if (intent.cancelledBy !== null) return reject('not_authorized');
  if (now >= intent.expiresAt) return accept(endOfAuthority(intent));
  if (intent.notBefore !== null && now < intent.notBefore) return reject('not_due');
  if (intent.resendUntil !== null && now >= intent.resendUntil) {
    return accept(unknownFrom(intent, 'resend_window_closed', 'the upstream may have forgotten the key', now));
  }
  return accept({
    type: 'attempt_started',
    attempt: intent.attempts.length + 1,
    attemptId,
    leaseUntil: now + intent.proposal.terms.leaseMs,
  });
}
