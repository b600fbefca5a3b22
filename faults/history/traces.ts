import type { ClientEntry } from './clients.js';
import type { EventRow, IntentRow } from './database.js';
import type { FaultEntry } from './faults.js';
import type { History } from './history.js';
import type { LedgerEntry } from './ledger.js';

/** Everything that a history holds about one intent. */
export interface IntentTrace {
  readonly row: IntentRow;
  /** In the order of their versions. */
  readonly events: readonly EventRow[];
  readonly ledger: readonly LedgerEntry[];
  /** What agents and operators were told about it; requests that were never answered with its id are not among them. */
  readonly answers: readonly ClientEntry[];
  readonly attempts: readonly AttemptTrace[];
}

/** One attempt, from its first event until the log knew what became of it, or gave it up. */
export interface AttemptTrace {
  readonly attempt: number;
  readonly attemptId: string;
  readonly startedAt: number;
  readonly leaseUntil: number;
  /** `Infinity` while it was never ended. */
  readonly endedAt: number;
  /** The event that ended it. */
  readonly end: EventRow | null;
}

/** Something that was broken, from when to when. */
export interface Outage {
  readonly kind: string;
  readonly target: string;
  readonly detail: NonNullable<FaultEntry['detail']>;
  readonly from: number;
  /** `Infinity` where nothing mended it; the same as `from` for what is over at once. */
  readonly to: number;
}

const endsAttempt = new Set(['committed', 'attempt_not_executed', 'accepted', 'outcome_unknown']);

export function tracesOf(history: History): IntentTrace[] {
  const events = groupBy(history.database.events, ({ intentId }) => intentId);
  const ledger = groupBy(history.ledger, ({ key }) => key);
  const answers = groupBy(history.clients, ({ answer }) => answer?.intentId ?? null);
  return history.database.intents.map((row) => {
    const own = [...(events.get(row.id) ?? [])].sort((a, b) => a.version - b.version);
    return {
      row,
      events: own,
      ledger: ledger.get(row.key) ?? [],
      answers: answers.get(row.id) ?? [],
      attempts: attemptsOf(own),
    };
  });
}

function attemptsOf(events: readonly EventRow[]): AttemptTrace[] {
  return events.flatMap((event, i) => {
    if (event.type !== 'attempt_started') return [];
    const { attempt, attemptId, leaseUntil } = event.data;
    const end = events.slice(i + 1).find(({ type }) => endsAttempt.has(type)) ?? null;
    return {
      attempt: Number(attempt),
      attemptId: String(attemptId),
      startedAt: event.committedAt,
      leaseUntil: Number(leaseUntil),
      endedAt: end?.committedAt ?? Number.POSITIVE_INFINITY,
      end,
    };
  });
}

/** Faults that happened, each from its begin to its end; what was ordered in vain is left out. */
export function outagesOf(faults: readonly FaultEntry[]): Outage[] {
  const open: (Outage & { to: number })[] = [];
  const all: Outage[] = [];
  for (const { at, kind, phase, target, detail, happened } of faults) {
    if (phase === 'end') {
      const begun = open.findIndex((each) => each.kind === kind && each.target === target);
      if (begun >= 0) (open.splice(begun, 1)[0] as { to: number }).to = at;
    } else if (happened !== false) {
      const outage = { kind, target, detail: detail ?? {}, from: at, to: Number.POSITIVE_INFINITY };
      open.push(outage);
      all.push(outage);
    }
  }
  return all;
}

/** True when the attempt was on its way at that time, as far as the log knew. */
export function isOpenAt({ startedAt, endedAt }: AttemptTrace, at: number): boolean {
  return startedAt < at && at < endedAt;
}

function groupBy<T, K>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}
