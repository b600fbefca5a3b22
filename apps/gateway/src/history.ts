import { count, handleOf, jsonBytes, redacted, shownBytes } from '@intendant/contracts';
import type { IntentEvent, Proposal } from '@intendant/intent';
import type { RecordedEvent } from '@intendant/store';

/** An event as people read it: version, time and type first, then what is particular to its type. */
export type EventEntry = { readonly version: number; readonly at: string } & IntentEvent;

/**
 * As operators see it: arguments that the tool file hides from approvers are hidden from all of them, and data that is too
 * large for a result is not here either.
 */
export function timeline(history: readonly RecordedEvent[]): EventEntry[] {
  const hidden = history.flatMap(({ event }) => (event.type === 'approval_requested' ? event.request.redact : []));
  const recorded = history.find(({ event }) => event.type === 'recorded')?.event;
  const proposal = recorded?.type === 'recorded' ? recorded.proposal : null;
  return history.map(({ version, at, event }) => ({ version, at, ...fitting(without(event, hidden), proposal) }));
}

function without(event: IntentEvent, hidden: readonly string[]): IntentEvent {
  if (event.type !== 'recorded' || hidden.length === 0) return event;
  return { ...event, proposal: { ...event.proposal, args: redacted(event.proposal.args, hidden) } };
}

function fitting(event: IntentEvent, proposal: Proposal | null): IntentEvent {
  if (proposal === null || !('data' in event) || event.data === undefined) return event;
  const bytes = jsonBytes(event.data);
  if (bytes <= (proposal.terms.shows?.maxBytes ?? shownBytes)) return event;
  const handle = event.type === 'committed' ? { handle: handleOf(proposal.intentId) } : {};
  return Object.assign({ ...event, data: null }, { summary: `${count(bytes)} bytes of JSON`, ...handle });
}

/**
 * As an agent may see it: nothing that the runtime filled in for the upstream, nothing of the tool's runtime layer, and not
 * what admission went by. */
export function asAgentsSeeIt(entry: EventEntry): object {
  if (entry.type === 'authorized' || entry.type === 'denied') {
    const { reasons: _, ...seen } = entry;
    return seen;
  }
  if (entry.type === 'approval_requested') {
    const { version, at, type, differs = [], request } = entry;
    const { view, demands, quorum, expiresAt } = request;
    return { version, at, type, view, why: demands.map(({ message }) => message), quorum, expiresAt, differs };
  }
  if (entry.type === 'accepted') {
    // By which the upstream is asked later.
    const { data: _, ...seen } = entry;
    return seen;
  }
  if (entry.type === 'attempt_started') {
    const { approval: _, ...seen } = entry;
    return seen;
  }
  if (entry.type === 'approved') {
    const { digest: _, ...seen } = entry;
    return seen;
  }
  if (entry.type !== 'recorded') return entry;
  const {
    injected: _,
    key: __,
    terms: ___,
    contractDigest: ____,
    gist: _____,
    grant: ______,
    ...proposal
  } = entry.proposal;
  return { ...entry, proposal };
}
