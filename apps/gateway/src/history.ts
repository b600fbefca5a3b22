import type { IntentEvent } from '@intendant/intent';
import type { RecordedEvent } from '@intendant/store';

/** An event as people read it: version, time and type first, then what is particular to its type. */
export type EventEntry = { readonly version: number; readonly at: string } & IntentEvent;

export function timeline(history: readonly RecordedEvent[]): EventEntry[] {
  return history.map(({ version, at, event }) => ({ version, at, ...event }));
}

/**
 * As an agent may see it: nothing that the runtime filled in for the upstream, nothing of the tool's runtime layer, and not
 * what admission went by. */
export function asAgentsSeeIt(entry: EventEntry): object {
  if (entry.type === 'authorized' || entry.type === 'denied') {
    const { reasons: _, ...seen } = entry;
    return seen;
  }
  if (entry.type !== 'recorded') return entry;
  const { injected: _, key: __, terms: ___, contractDigest: ____, ...proposal } = entry.proposal;
  return { ...entry, proposal };
}
