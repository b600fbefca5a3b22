import type { ClientEntry } from '../history/clients.js';
import type { EventRow } from '../history/database.js';
import type { FaultEntry } from '../history/faults.js';
import type { History } from '../history/history.js';
import type { LedgerEntry } from '../history/ledger.js';
import type { TimelineLine } from '../history/violation.js';
import type { Story } from './story.js';
import { duration } from './wording.js';

/** All that was written down about one intent, in the order of its time, and the faults that were there meanwhile. */
export function timelineOf({ meta, faults }: History, story: Story): TimelineLine[] {
  const lines = [
    ...story.clients.map(clientLine),
    ...story.events.map(eventLine),
    ...[...story.requests, ...story.effects, ...story.questions].map(ledgerLine),
  ];
  const times = lines.map(({ at }) => at ?? 0);
  const meanwhile = overlapping(faults, Math.min(...times), Math.max(...times), meta.frozenAt);
  return inOrder([...lines, ...meanwhile.map(faultLine)]);
}

/** Lines in the order of their time; what is said over and over becomes one line. */
export function inOrder(lines: readonly TimelineLine[]): TimelineLine[] {
  const sorted = [...lines].sort((a, b) => (a.at ?? 0) - (b.at ?? 0));
  const kept: { line: TimelineLine; times: number; until: number }[] = [];
  for (const line of sorted) {
    const last = kept.at(-1);
    const until = line.at ?? 0;
    if (last && last.line.who === line.who && last.line.what === line.what)
      Object.assign(last, { until, times: last.times + 1 });
    else kept.push({ line, times: 1, until });
  }
  return kept.map(({ line, times, until }) => {
    if (times === 1) return line;
    return { ...line, what: `${line.what} (${times} times, the last ${duration(until - (line.at ?? 0))} later)` };
  });
}

export function clientLine({ at, phase, operation, via, ref, answer, problem, argsHash }: ClientEntry): TimelineLine {
  const asked = `${operation} ${ref} over ${via}`;
  if (phase === 'invoke')
    return { at, who: 'client', what: argsHash ? `${asked}, arguments ${short(argsHash)}` : asked };
  if (phase === 'unanswered') return { at, who: 'client', what: `no answer to ${asked}: ${problem ?? 'nothing came'}` };
  const { httpStatus, intentId, status, code, outcome, replayed } = answer ?? {};
  const told = [httpStatus, status, outcome, code, replayed ? 'replayed' : null, intentId].filter(
    (word) => word != null,
  );
  return { at, who: 'client', what: `answer to ${asked}: ${told.join(' ') || 'acknowledged'}` };
}

const telling = [
  'basis',
  'attempt',
  'attemptId',
  'cause',
  'absences',
  'proof',
  'reason',
  'finding',
  'breach',
  'outcome',
];

export function eventLine({ committedAt, version, type, data }: EventRow): TimelineLine {
  const details = telling.flatMap((name) => (data[name] == null ? [] : [`${name} ${String(data[name])}`]));
  return { at: committedAt, who: 'log', what: [`${version} ${type}`, ...details].join(', ') };
}

export function ledgerLine(line: LedgerEntry): TimelineLine {
  return { at: line.at, who: 'upstream', what: whatOf(line) };
}

function whatOf(line: LedgerEntry): string {
  switch (line.kind) {
    case 'request':
      return `request ${line.method} ${line.path}, attempt ${line.attemptId ?? 'without an id'}, body ${short(line.argsHash)}`;
    case 'effect':
      return `effect ${line.externalId} of attempt ${line.attemptId ?? 'without an id'}`;
    case 'lookup':
    case 'poll':
      return `${line.kind}: ${line.answer}`;
  }
}

function short(hash: string): string {
  return hash.slice(0, 8);
}

export function faultLine({ at, kind, phase, target, happened }: FaultEntry): TimelineLine {
  return {
    at,
    who: 'fault',
    what: `${kind} ${target}${happened === false ? ', which did not happen' : ''} (${phase})`,
  };
}

/** Faults that are over as soon as they happen, and so have no end in the log. */
const momentary: ReadonlySet<string> = new Set([
  'cut',
  'postgres.terminate',
  'nats.delete_consumer',
  'nats.delete_stream',
]);

/** Faults that were there at some time between `from` and `to`, with their ends. One without an end lasts until `frozenAt`. */
export function overlapping(
  faults: readonly FaultEntry[],
  from: number,
  to: number,
  frozenAt: number,
): readonly FaultEntry[] {
  const found: FaultEntry[] = [];
  const open = new Map<string, FaultEntry>();
  const keep = (begin: FaultEntry, until: number, ...entries: FaultEntry[]) => {
    if (begin.at <= to && until >= from) found.push(begin, ...entries);
  };
  for (const entry of faults) {
    if (entry.happened === false) continue;
    const name = `${entry.kind} ${entry.target}`;
    const begun = open.get(name);
    if (momentary.has(entry.kind)) keep(entry, entry.at);
    else if (entry.phase === 'begin') {
      if (begun) keep(begun, begun.at);
      open.set(name, entry);
    } else if (begun) {
      open.delete(name);
      keep(begun, entry.at, entry);
    }
  }
  for (const begin of open.values()) keep(begin, frozenAt);
  return found;
}
