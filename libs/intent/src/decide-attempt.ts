import { type ApprovalRequest, type Approvals, isComplete, type Verification } from './approval.js';
import type { Command, Decision } from './commands.js';
import { accept, reject } from './decision.js';
import type { IntentEvent } from './events.js';
import { endOfAuthority, nothingDone, unknownFrom, unproven } from './follow-up.js';
import { clearedFor, lapseOf } from './lapse.js';
import { type In, type Intent, mayHaveRun } from './state.js';

type StartAttempt = Extract<Command, { type: 'start_attempt' }>;

/** May the next wire attempt start? The answer is the last gate before the first byte. */
export function decideAttempt(command: StartAttempt, intent: Intent, now: number): Decision {
  const { attemptId, phases, outOfPhase = false } = command;
  if (intent.state !== 'authorized' && intent.state !== 'awaiting_approval') return reject('not_authorized');
  // A command that comes again, later: its attempt is over, and no two attempts share an id.
  if (intent.attempts.some((a) => a.attemptId === attemptId)) return reject('not_authorized');
  if (intent.cancelledBy !== null) return reject('not_authorized');
  const lapse = lapseOf(intent, now);
  if (lapse) return accept(lapse);
  if (now >= intent.expiresAt) return accept(endOfAuthority(intent));
  // What may have run is asked about and completed, whatever the run does now.
  if (outOfPhase && phases && !unproven(intent.attempts)) return accept(deniedBy(phases, intent));
  const agreed = agreedTo(command, intent, now);
  if (agreed !== null && 'kind' in agreed) return agreed;
  if (intent.notBefore !== null && now < intent.notBefore) return reject('not_due');
  if (intent.resendUntil !== null && now >= intent.resendUntil) {
    return accept(unknownFrom(intent, 'resend_window_closed', 'the upstream may have forgotten the key', now));
  }
  const started: IntentEvent = {
    type: 'attempt_started',
    attempt: intent.attempts.length + 1,
    attemptId,
    leaseUntil: now + intent.proposal.terms.leaseMs,
    ...(agreed && { approval: agreed.digest }),
  };
  return intent.state === 'awaiting_approval' ? accept(clearedFor(intent), started) : accept(started);
}

/**
 * The request that enough people have agreed to and that is about exactly this; null where nobody has to agree. Otherwise it
 * is asked about as it is now, unless it is already.
 */
function agreedTo(
  command: StartAttempt,
  intent: In<'authorized' | 'awaiting_approval'>,
  now: number,
): ApprovalRequest | Decision | null {
  const { verified, grantOver = false } = command;
  const { approvals } = intent;
  if (approvals === null && !grantOver) return null;
  if (verified?.version !== intent.version) return reject('not_verified');
  const fitting = fittingOf(approvals, verified);
  // What may have run is completed, whatever the time.
  const inTime = ({ expiresAt }: ApprovalRequest) => now < expiresAt || mayHaveRun(intent.attempts);
  const agreed = approvals && fitting.find((each) => isComplete(approvals, each) && inTime(each));
  if (agreed) return agreed;
  // Two versions of dispatchers do not ask in turns while people think about what one of them has asked.
  if (intent.state === 'awaiting_approval' && fitting.length > 0) return reject('not_approved');
  const request = fitting.at(-1) ?? verified.renewed;
  return request ? accept({ type: 'approval_requested', request, differs: verified.differs }) : reject('not_approved');
}

/** The requests that are about what would be sent. */
function fittingOf(approvals: Approvals | null, { matching }: Verification): ApprovalRequest[] {
  return approvals?.requests.filter(({ digest }) => matching.includes(digest)) ?? [];
}

function deniedBy(phases: readonly string[], intent: Intent): IntentEvent {
  const { tool, phase = null } = intent.proposal;
  const allowed = phases.join(' or ');
  return {
    type: 'denied',
    failure: {
      code: 'permission_denied',
      message: `${tool} may only be called in the phase ${allowed}, and the run was no longer in it when it was to be sent. ${nothingDone(intent)}. Do not try again; use another tool or stop.`,
      details: { rule: 'phase', decidedIn: phase, wouldAllow: `a run in the phase ${allowed}` },
    },
  };
}
