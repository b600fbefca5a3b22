import { redacted } from '@intendant/contracts';
import type { IntentEvent } from '@intendant/intent';
import type { RecordedEvent } from '@intendant/store';

/** An event as people read it: version, time and type first, then what is particular to its type. */
export type EventEntry = { readonly version: number; readonly at: string } & IntentEvent;

/** As operators see it: arguments that the tool file hides from approvers are hidden from all of them. */
export function timeline(history: readonly RecordedEvent[]): EventEntry[] {
  const hidden = history.flatMap(({ event }) => (event.type === 'approval_requested' ? event.request.redact : []));
  return history.map(({ version, at, event }) => ({ version, at, ...without(event, hidden) }));
}

function without(event: IntentEvent, hidden: readonly string[]): IntentEvent {
  if (event.type !== 'recorded' || hidden.length === 0) return event;
  return { ...event, proposal: { ...event.proposal, args: redacted(event.proposal.args, hidden) } };
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
