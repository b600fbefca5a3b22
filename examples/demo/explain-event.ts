import type { TimelineEvent } from './timeline-event.js';

type Explain = (event: TimelineEvent) => string;

const bases: Readonly<Record<string, string>> = {
  admitted: 'allowed; waits for a dispatcher',
  approved: 'enough people have agreed; waits for a dispatcher',
  not_executed: 'allowed again: the attempt before provably did not run',
  absent: 'allowed again: two absences in a row prove that the attempt before did not run',
  same_key: 'allowed again: the upstream still remembers the key, so it cannot happen twice',
};

const meanings: Readonly<Record<string, Explain>> = {
  recorded: ({ proposal }) => `in the event log, before anything else happens${droppedFrom(proposal?.dropped ?? [])}`,
  approval_requested: ({ request }) =>
    request?.preview?.kind === 'asked'
      ? 'people will be asked, once the upstream has said what would change'
      : `people are asked: ${request?.view}`,
  approved: ({ by }) => `${by} agrees to exactly that`,
  approval_withdrawn: ({ by }) => `${by} takes it back`,
  refused: ({ by, reason }) => `${by} says no: ${reason}`,
  denied: ({ failure }) => `not allowed: ${failure?.message}`,
  authorized: ({ basis = '' }) => bases[basis] ?? basis,
  attempt_started: ({ attempt }) => `attempt ${attempt}, written down before its first byte leaves`,
  attempt_not_executed: ({ attempt, cause }) => `attempt ${attempt} provably did not run (${cause})`,
  accepted: () => 'the upstream will do it; it is asked about, never sent again',
  outcome_unknown: ({ cause }) => `it may or may not have happened (${cause}); nothing is sent until that is known`,
  lookup_absent: ({ absences }) => `the upstream was asked and does not have it (absence ${absences})`,
  lookup_inconclusive: ({ detail }) => `the upstream was asked, which proves nothing yet: ${detail}`,
  committed: ({ proof, data }) => `it happened, proven by ${proofs[proof ?? ''] ?? proof}: ${JSON.stringify(data)}`,
  failed: ({ failure }) => `it did not happen and will not: ${failure?.message}`,
  dead_lettered: ({ reason, detail }) => `only a person can find out (${reason}: ${detail})`,
  replay_requested: ({ by, reason }) => `${by} asks for it to be taken up again: ${reason}`,
  resolved: ({ by, outcome, evidence }) => `${by} says: ${outcome}. Evidence: ${evidence}`,
  cancelled: ({ by }) => `cancelled by ${by} before it was sent`,
  cancel_requested: ({ by }) => `${by} asks to cancel it; what is under way is aborted and nothing is sent again`,
  reviewed: ({ detail }) => `looked at once more after the commit: ${detail}`,
  expired: () => 'not sent in the time its run allowed; nothing happened',
  corrected: ({ finding }) => `late evidence: ${finding}`,
};

const proofs: Readonly<Record<string, string>> = {
  response: "the upstream's answer",
  lookup: 'asking the upstream',
  poll: 'following it to its end',
  operator: 'a person',
};

/** What an event means, for people. A type of a newer version has a name and no explanation. */
export function explainEvent(event: TimelineEvent): string {
  return meanings[event.type]?.(event) ?? '';
}

function droppedFrom(dropped: readonly { readonly pointer: string }[]): string {
  if (dropped.length === 0) return '';
  return `; not believed and dropped: ${dropped.map(({ pointer }) => pointer).join(', ')}`;
}
