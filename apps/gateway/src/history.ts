import { count, jsonBytes, outsideWarning, redacted, shownData } from '@intendant/contracts';
import type { EventType, IntentEvent, Proposal } from '@intendant/intent';
import type { RecordedEvent } from '@intendant/store';

/** An event as people read it: version, time and type first, then what is particular to its type. */
export type EventEntry = { readonly version: number; readonly at: string } & IntentEvent & {
    /** Only there where it may hold what was written outside. */
    readonly untrusted?: true;
    readonly warning?: string;
  };

/** Those that repeat what an upstream said. */
const repeating: ReadonlySet<EventType> = new Set([
  ...(['attempt_not_executed', 'accepted', 'outcome_unknown', 'lookup_inconclusive', 'committed', 'failed'] as const),
  ...(['dead_lettered', 'corrected', 'reviewed'] as const),
]);

/**
 * As operators see it: arguments that the tool file hides from approvers are hidden from all of them, and of data there is
 * what a result shows of it.
 */
export function timeline(history: readonly RecordedEvent[]): EventEntry[] {
  const hidden = history.flatMap(({ event }) => (event.type === 'approval_requested' ? event.request.redact : []));
  const recorded = history.find(({ event }) => event.type === 'recorded')?.event;
  const proposal = recorded?.type === 'recorded' ? recorded.proposal : null;
  const isOutside = ({ type }: IntentEvent) => proposal?.terms.untrusted === true && repeating.has(type);
  return history.map(({ version, at, event }) => ({
    ...{ version, at, ...fitting(without(event, hidden), proposal) },
    ...(isOutside(event) && { untrusted: true as const, warning: outsideWarning }),
  }));
}

function without(event: IntentEvent, hidden: readonly string[]): IntentEvent {
  if (event.type !== 'recorded' || hidden.length === 0) return event;
  return { ...event, proposal: { ...event.proposal, args: redacted(event.proposal.args, hidden) } };
}

function fitting(event: IntentEvent, proposal: Proposal | null): IntentEvent {
  if (proposal === null || !('data' in event) || event.data === undefined) return event;
  const { data, summary, handle, total } = shownData({ proposal, data: event.data });
  if (event.type === 'committed') {
    const more = {
      ...(summary !== null && { summary }),
      ...(handle !== null && { handle }),
      ...(total !== undefined && { total }),
    };
    return Object.assign({ ...event, data }, more);
  }
  // The handle reads what was committed, and nothing else.
  if (handle === null) return event;
  return Object.assign({ ...event, data: null }, { summary: `${count(jsonBytes(event.data))} bytes of JSON` });
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
