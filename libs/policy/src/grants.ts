import type { StandingGrant } from '@intendant/contracts';
import { type Demand, isEntitled, isSamePerson } from '@intendant/intent';
import type { Call } from './call.js';
import { demandRules } from './demands.js';

/** What whoever gives a grant cannot know beforehand. */
const unforeseen: ReadonlySet<string> = new Set([demandRules.taint, demandRules.alike]);

/** A grant stands for one person who agrees. */
export function mayBeGranted({ tool }: Pick<Call, 'tool'>): boolean {
  return tool.approval.quorum === 1;
}

/**
 * The first of these that stands in for whoever would be asked: given by somebody who could agree to this call, for calls
 * like it, with room for one more. Null: a person is asked.
 *
 * @param allows whether its condition is true of the call; one that cannot be evaluated is not.
 */
export function grantFor(
  call: Call,
  demands: readonly Demand[],
  grants: readonly StandingGrant[],
  allows: (condition: string) => boolean,
): StandingGrant | null {
  if (!mayBeGranted(call) || demands.some(({ rule }) => unforeseen.has(rule))) return null;
  const fitting = grants.find(
    (grant) =>
      isAbout(grant, call) &&
      mayAgree(grant, call) &&
      hasRoom(grant, call) &&
      (grant.when === null || allows(grant.when)),
  );
  return fitting ?? null;
}

function isAbout({ toolVersion, sandbox, user }: StandingGrant, call: Call): boolean {
  return (
    toolVersion === call.tool.version && sandbox === call.sandbox && (user ?? call.session.user) === call.session.user
  );
}

/** By what the tool demands now, of what the giver was when giving it. */
function mayAgree(grant: StandingGrant, { tool, session }: Call): boolean {
  const { approval } = tool;
  return isEntitled(grant, approval) && (approval.selfApproval || !isSamePerson(grant.givenBy, session.user));
}

function hasRoom({ usesLeft, costLeft }: StandingGrant, { takes }: Call): boolean {
  return usesLeft >= 1 && (costLeft === null || takes.cost <= costLeft);
}
