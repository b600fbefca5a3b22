import type { Command, Decision } from './commands.js';
import { accept, reject } from './decision.js';
import type { IntentEvent } from './events.js';
import { endOfAuthority, unknownFrom, unproven } from './follow-up.js';
import type { Intent } from './state.js';

type StartAttempt = Extract<Command, { type: 'start_attempt' }>;

/** May the next wire attempt start? The answer is the last gate before the first byte. */
export function decideAttempt(command: StartAttempt, intent: Intent, now: number): Decision {
  const { attemptId, phases, outOfPhase = false } = command;
  if (intent.state !== 'authorized') return reject('not_authorized');
  // A command that comes again, later: its attempt is over, and no two attempts share an id.
  if (intent.attempts.some((a) => a.attemptId === attemptId)) return reject('not_authorized');
  if (intent.cancelledBy !== null) return reject('not_authorized');
  if (now >= intent.expiresAt) return accept(endOfAuthority(intent));
  // What may have run is asked about and completed, whatever the run does now.
  if (outOfPhase && phases && !unproven(intent.attempts)) return accept(deniedBy(phases, intent));
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

function deniedBy(phases: readonly string[], { proposal }: Intent): IntentEvent {
  const { tool, phase = null } = proposal;
  const allowed = phases.join(' or ');
  return {
    type: 'denied',
    failure: {
      code: 'permission_denied',
      message: `${tool} may only be called in the phase ${allowed}, and the run was no longer in it when it was to be sent. Nothing was sent. Do not try again; use another tool or stop.`,
      details: { rule: 'phase', decidedIn: phase, wouldAllow: `a run in the phase ${allowed}` },
    },
  };
}
