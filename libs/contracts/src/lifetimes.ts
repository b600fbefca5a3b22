const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** How long a run may live, and does when whoever opens it says nothing: a person waits for one, a batch has a night. */
export const runLifetimes = { longestMs: day, interactiveMs: hour, batchMs: 12 * hour } as const;

/**
 * How far the time of a decision may lie from the time it is written at. So a lease may be over by this much earlier
 * than its owner, who counts from when it asked, would think.
 */
export const clockToleranceMs = second;

/**
 * Windows of the bus. PostgreSQL keeps every key for ever, so none of them guards against a second effect; they must
 * only be so long that nothing is dropped, and nobody gives up, while a run can still act (see `busInequalities`).
 */
export const busWindows = {
  /** How long JetStream knows a message by its id. */
  duplicateMs: 2 * minute,
  /** After this long without an acknowledgement the server delivers again. */
  ackWaitMs: 30 * second,
  /** How long a publisher waits for the acknowledgement of a message before it counts as not stored. */
  publishMs: 5 * second,
  /** How long a submission waits to be admitted, a doorbell to be heard, a public event to be read. */
  submissionMs: 7 * day,
  doorbellMs: day,
  eventMs: 30 * day,
} as const;

type BusWindows = { readonly [K in keyof typeof busWindows]: number };
type RunLifetimes = { readonly [K in keyof typeof runLifetimes]: number };

/** What must hold between the windows of the bus and the life of a run; each sentence says which, with numbers in ms. */
export function busInequalities(bus: BusWindows, run: RunLifetimes): { holds: boolean; inequality: string }[] {
  return [
    atLeast('submissions are kept', bus.submissionMs, 'the longest run', run.longestMs),
    atLeast('doorbells are kept', bus.doorbellMs, 'the longest run', run.longestMs),
    atLeast('public events are kept', bus.eventMs, 'the longest run', run.longestMs),
    // A message that was stored although its acknowledgement was lost is sent again by the outbox.
    atLeast('the duplicate window', bus.duplicateMs, 'a publish and its repetition', 2 * bus.publishMs),
    atLeast('the duplicate window', bus.duplicateMs, 'the wait for an acknowledgement', bus.ackWaitMs),
    // What a crashed replica held is still in time for its run when the next one gets it.
    atLeast('a run by default', run.interactiveMs, 'the wait for an acknowledgement', bus.ackWaitMs),
  ];
}

function atLeast(what: string, ms: number, other: string, leastMs: number): { holds: boolean; inequality: string } {
  return { holds: ms >= leastMs, inequality: `${what} (${ms} ms) must be at least ${other} (${leastMs} ms)` };
}

/** So many denials are recorded of one run; further ones are answered and forgotten. They cost an agent nothing otherwise. */
export const mostDenied = 1_000;
