import { type ApprovalRequest, type Command, decide, type Intent, type LookupAnswer } from '@intendant/intent';
import type { Decide } from './step.js';

/** Rules as a hurried hand might write them: each is a way to double an effect or to deny one. */
export const brokenRules: Readonly<Record<string, Decide>> = {
  'an absence counts before the settle time': (command, intent, now) => decide(command, unsettled(intent), now),
  'a lookup that fails counts as an absence': (command, intent, now) => decide(believing(command), intent, now),
  'an unknown outcome is sent again without a lookup': (command, intent, now) =>
    command.type === 'record_lookup' && intent?.state === 'unknown'
      ? { kind: 'accepted', events: [{ type: 'authorized', basis: 'absent', notBefore: null, resendUntil: null }] }
      : decide(command, intent, now),
  'a second attempt is started while one is open': (command, intent, now) =>
    command.type === 'start_attempt' && intent?.state === 'dispatching'
      ? decide(command, { ...intent, state: 'authorized', basis: 'admitted', notBefore: null, resendUntil: null }, now)
      : decide(command, intent, now),
};

/** The same with approvals: each is a way to do what nobody has agreed to. */
export const brokenApprovals: Readonly<Record<string, Decide>> = {
  'one approval too few is enough': (command, intent, now) => decide(command, easier(intent), now),
  'whoever asked may agree': (command, intent, now) =>
    decide(command, command.type === 'approve' ? ofAnother(intent) : intent, now),
  'an approval never expires': (command, intent, now) =>
    decide(command, command.type === 'start_attempt' ? lasting(intent) : intent, now),
  'nobody compares what is sent with what was agreed to': (command, intent, now) =>
    decide(command.type === 'start_attempt' ? fitting(command, intent) : command, intent, now),
  'a refusal after an approval is ignored': (command, intent, now) =>
    command.type === 'refuse' && intent?.state === 'authorized' ? { kind: 'unchanged' } : decide(command, intent, now),
  'an approval that was taken back counts': (command, intent, now) =>
    command.type === 'withdraw' ? { kind: 'unchanged' } : decide(command, intent, now),
};

function changed(intent: Intent | null, change: (request: ApprovalRequest) => ApprovalRequest): Intent | null {
  if (!intent?.approvals) return intent;
  const [first, ...others] = intent.approvals.requests;
  const approvals = { ...intent.approvals, requests: [change(first), ...others.map(change)] as const };
  return { ...intent, approvals } as Intent;
}

const easier = (intent: Intent | null) =>
  changed(intent, (request) => ({ ...request, quorum: Math.max(1, request.quorum - 1) }));
const lasting = (intent: Intent | null) => changed(intent, (request) => ({ ...request, expiresAt: 1e9 }));

function ofAnother(intent: Intent | null): Intent | null {
  return intent && { ...intent, proposal: { ...intent.proposal, user: 'nobody' } };
}

function fitting(command: Extract<Command, { type: 'start_attempt' }>, intent: Intent | null): Command {
  const matching = intent?.approvals?.requests.map(({ digest }) => digest) ?? [];
  return command.verified ? { ...command, verified: { ...command.verified, matching } } : command;
}

function unsettled(intent: Intent | null): Intent | null {
  if (!intent) return null;
  const { proposal } = intent;
  return { ...intent, proposal: { ...proposal, terms: { ...proposal.terms, settleMs: 0 } } };
}

function believing(command: Command): Command {
  if (command.type !== 'record_lookup' || command.answer.kind !== 'cannot_tell') return command;
  const answer: LookupAnswer = { kind: 'absent' };
  return { ...command, answer };
}
