import type { RecordedProposal, TimelineEvent } from './timeline-event.js';

/** What the event log claims about one intent. */
export interface IntentRecord {
  readonly intentId: string;
  readonly stepId: string;
  readonly tool: string;
  readonly effect: 'read' | 'write' | 'destructive';
  /** The key the upstream sees. */
  readonly key: string;
  /** The event that settled it; `open` where none has. */
  readonly state: 'committed' | 'failed' | 'denied' | 'cancelled' | 'expired' | 'dead_lettered' | 'open';
  /** What a committed intent rests on: `response`, `lookup` or `operator`. */
  readonly proof: string | null;
  /** Ids of its attempts, in the order in which they were started. */
  readonly attemptIds: readonly string[];
  /** The attempt whose answer committed it. */
  readonly answered: string | null;
}

const settling = ['committed', 'failed', 'denied', 'cancelled', 'expired', 'dead_lettered'] as const;
type Settling = (typeof settling)[number];

/** Reads the claim from an intent's events, oldest first. */
export function recordOf(events: readonly TimelineEvent[]): IntentRecord {
  const { intentId, stepId, tool, key, terms } = proposalOf(events);
  const attempts = events.filter(({ type }) => type === 'attempt_started');
  const committed = events.find(({ type }) => type === 'committed');
  const idOf = (number: number | null | undefined) => attempts.find(({ attempt }) => attempt === number)?.attemptId;
  return {
    intentId,
    stepId: stepId ?? intentId,
    tool,
    effect: terms.effect,
    key,
    state: stateAfter(events),
    proof: committed?.proof ?? null,
    attemptIds: attempts.flatMap(({ attemptId }) => attemptId ?? []),
    answered: committed?.proof === 'response' ? (idOf(committed.attempt) ?? null) : null,
  };
}

/** The proposal of an intent; its first event carries it. */
export function proposalOf(events: readonly TimelineEvent[]): RecordedProposal {
  const proposal = events[0]?.proposal;
  if (proposal) return proposal;
  throw new Error(
    `The first event of an intent must be "recorded" with its proposal, got ${JSON.stringify(events[0])}`,
  );
}

/** Only a dead letter is ever left again, and corrections and evidence change no state. */
function stateAfter(events: readonly TimelineEvent[]): IntentRecord['state'] {
  const moving = events.filter(({ type }) => type !== 'resolved' && type !== 'corrected');
  const last = moving.at(-1)?.type;
  return settling.includes(last as Settling) ? (last as Settling) : 'open';
}
