import { type Command, decide, type Intent, type LookupAnswer } from '@intendant/intent';
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
