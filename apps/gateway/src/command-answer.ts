import { Refusal } from '@intendant/contracts';
import { type Intent, newestOf, type Rejection } from '@intendant/intent';
import type { Result } from '@intendant/store';

/** The intent after a command. @throws Refusal with why the command was rejected and what can be done */
export function intentAfter(result: Result): Intent {
  if (result.kind !== 'rejected') return result.intent;
  if (!result.intent) throw new Refusal('not_found', 'There is no such intent.');
  throw rejected(result.reason, result.intent);
}

/** Whoever decided came too late, and nothing happens. */
export function approvalExpired({ state, proposal: { intentId } }: Intent): Refusal {
  return new Refusal(
    'conflict',
    `The approval of intent ${intentId} has expired. Nothing was sent and nothing will be.`,
    {
      ...{ intentId, state, reason: 'approval_expired' },
    },
  );
}

/** Why a command about `intent` is rejected, as its sender reads it. */
export function rejected(reason: Rejection, intent: Intent): Refusal {
  const { intentId, tool } = intent.proposal;
  const details = { intentId, state: intent.state, reason };
  switch (reason) {
    case 'in_flight':
      return new Refusal(
        'conflict',
        `${tool} is ${intent.state}: it may have been sent already, so only its outcome can be told. Read intent ${intentId} or wait for it.`,
        details,
      );
    case 'not_dead_lettered':
      return new Refusal(
        'conflict',
        `Intent ${intentId} is ${intent.state}, not a dead letter; there is nothing to replay.`,
        details,
      );
    case 'not_replayable':
      return new Refusal(
        'conflict',
        `${tool} has no key and no lookup, so a replay could do it twice. Find out whether it happened and resolve it with evidence.`,
        details,
      );
    case 'too_early': {
      const notBefore = new Date(settledAt(intent)).toISOString();
      return new Refusal(
        'conflict',
        `Before ${notBefore} nobody can know that ${tool} did not happen: the upstream may still be working on it. Resolve it then.`,
        { ...details, notBefore },
      );
    }
    case 'not_resolvable':
      return new Refusal(
        'conflict',
        `Intent ${intentId} is ${intent.state} and will stay so; there is nothing to resolve.`,
        details,
      );
    case 'not_awaiting':
      return new Refusal(
        'conflict',
        `Intent ${intentId} is ${intent.state}, so nobody is asked about it. Nothing was changed.`,
        details,
      );
    case 'stale_digest':
      return new Refusal(
        'conflict',
        `What was asked about intent ${intentId} has changed since you saw it. Nothing was changed. Read it again and decide about what it says now.`,
        details,
      );
    case 'no_preview_yet':
      return new Refusal(
        'conflict',
        `The preview of intent ${intentId} is not there yet. Nothing was changed. Read it again in a moment.`,
        details,
      );
    case 'not_judged_yet':
      return new Refusal(
        'conflict',
        'The policy files have changed; what they say of this call is not known yet. Nothing was changed; read it again in a moment.',
        details,
      );
    case 'own_request':
      return new Refusal(
        'forbidden',
        `Intent ${intentId} acts for ${intent.proposal.user}, who may not approve it. Nothing was changed; somebody else has to.`,
        details,
      );
    case 'not_entitled':
      return new Refusal('forbidden', `${notEntitled(intent)} Nothing was changed.`, details);
    case 'nothing_given':
      return new Refusal(
        'conflict',
        `There is no approval of yours on intent ${intentId} to take back. Nothing was changed.`,
        details,
      );
    case 'no_such_intent':
    case 'idempotency_conflict':
    case 'not_authorized':
    case 'not_due':
    case 'not_verified':
    case 'not_approved':
    case 'unknown_attempt':
      return new Refusal(
        'conflict',
        `Intent ${intentId} is ${intent.state}; that cannot be done now (${reason}).`,
        details,
      );
  }
}

function notEntitled({ approvals, proposal: { tool } }: Intent): string {
  if (approvals === null) return `You may not decide about ${tool}.`;
  const { roles, groups } = newestOf(approvals);
  const wanted = [
    ...(roles.length > 0 ? [`the role ${roles.join(' or ')}`] : []),
    ...(groups.length > 0 ? [`membership in ${groups.join(' or ')}`] : []),
  ];
  return `Deciding about ${tool} needs ${wanted.join(' and ')}, which you do not have.`;
}

/** End of the declared processing time, in ms since the epoch. */
function settledAt(intent: Intent): number {
  return intent.state === 'unknown' ? intent.settleAt : intent.since + intent.proposal.terms.settleMs;
}
