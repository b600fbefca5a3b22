import type { EventRow } from '../history/database.js';
import { type Agreed, type LoggedAnswer, Requests } from './requests.js';
import { isAtRest, type State, stateAfter } from './steps.js';

/** What the log says of one attempt, last. `absent`: it was unknown, and then not found. */
export type Verdict = 'open' | 'executed' | 'not_executed' | 'accepted' | 'unknown' | 'absent';

export interface LoggedAttempt {
  readonly number: number;
  readonly attemptId: string;
  readonly started: EventRow;
  /** How it stood with the people that were asked when it was started; null: nobody was. */
  readonly agreed: Agreed | null;
  /** The attempts before it and what was known of them when it was started. */
  readonly before: readonly { readonly number: number; readonly verdict: Verdict; readonly unknownAt: number | null }[];
  verdict: Verdict;
  /** The event that ended it first: from then on nobody waits for it. */
  ended: EventRow | null;
  /** When it became unknown (decision time), or accepted: from then on it may have run. */
  unknownAt: number | null;
  /** The event that says no byte of it left. */
  neverSent: EventRow | null;
}

/** The checker's own fold of one intent's log. */
export interface Log {
  readonly state: State;
  readonly version: number;
  readonly reason: string | null;
  readonly attempts: readonly LoggedAttempt[];
  /** How it stands with the people that were asked; null: nobody was. */
  readonly agreed: Agreed | null;
  /** Every yes, also those that were taken back. */
  readonly answers: readonly LoggedAnswer[];
  /** The event that led into the present state; null without events. */
  readonly entered: EventRow | null;
  /** What the log says that cannot be; the fold goes no further than that. */
  readonly problem: string | null;
}

/** Reads events that lie in the order of their versions. */
export function readLog(events: readonly EventRow[]): Log {
  let state: State = 'none';
  let entered: EventRow | null = null;
  let reason: string | null = null;
  const attempts: LoggedAttempt[] = [];
  const people = new Requests();
  const log = (problem: string | null): Log => {
    const { agreed, answers } = people;
    return { state, version: events.length, reason, attempts, agreed, answers, entered, problem };
  };
  for (const [i, event] of events.entries()) {
    if (event.version !== i + 1) {
      return log(`version ${i + 1} of its log is missing or there twice: found ${event.version} in its place`);
    }
    const next = stateAfter(state, event.type);
    if (next === null) return log(`version ${event.version}: ${event.type} must not come in state ${state}`);
    if (next !== state) {
      entered = event;
      reason = reasonOf(event);
    }
    state = next;
    const problem = people.note(event) ?? note(event, attempts, people.agreed);
    if (state === 'awaiting_approval') reason = people.reason;
    if (problem !== null) return log(`version ${event.version}: ${problem}`);
  }
  return log(null);
}

function reasonOf({ type, data }: EventRow): string | null {
  switch (type) {
    case 'outcome_unknown':
      return text(data['cause']);
    case 'replay_requested':
      return 'replay_requested';
    case 'dead_lettered':
      return text(data['reason']);
    case 'failed':
    case 'denied':
      return text((data['failure'] as { code?: unknown } | undefined)?.code);
    case 'cancelled':
      return `by ${text(data['by'])}`;
    case 'committed':
      return text(data['proof']);
    case 'authorized':
      return text(data['basis']);
    default:
      return null;
  }
}

function text(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** What an event says of the attempts; returns what is wrong with it, or null. */
function note(event: EventRow, attempts: LoggedAttempt[], agreed: Agreed | null): string | null {
  const { type, data } = event;
  if (type === 'attempt_started') return start(event, attempts, agreed);
  if (type === 'outcome_unknown') {
    for (const attempt of attempts) if (attempt.verdict === 'open') end(attempt, 'unknown', event);
    return null;
  }
  if (
    (type === 'authorized' && data['basis'] === 'absent') ||
    (type === 'lookup_absent' && Number(data['absences']) > 1)
  ) {
    for (const attempt of attempts) {
      if (attempt.verdict === 'unknown' || attempt.verdict === 'accepted') attempt.verdict = 'absent';
    }
    return null;
  }
  const verdict = verdicts[type];
  const number = data['attempt'];
  if (verdict === undefined || number === null || number === undefined) return null;
  const attempt = attempts.find((each) => each.number === number);
  if (!attempt) return `${type} names attempt ${String(number)}, which was never started`;
  end(attempt, verdict, event);
  if (type === 'attempt_not_executed' && data['sent'] === false) attempt.neverSent = event;
  return null;
}

const verdicts: Readonly<Record<string, Verdict>> = {
  attempt_not_executed: 'not_executed',
  accepted: 'accepted',
  committed: 'executed',
  corrected: 'executed',
};

function start(event: EventRow, attempts: LoggedAttempt[], agreed: Agreed | null): string | null {
  const number = Number(event.data['attempt']);
  if (number !== attempts.length + 1) return `attempt ${number} was started as number ${attempts.length + 1}`;
  const attemptId = text(event.data['attemptId']);
  if (attemptId === null) return 'an attempt without an id was started';
  const before = attempts.map(({ number, verdict, unknownAt }) => ({ number, verdict, unknownAt }));
  attempts.push({
    number,
    attemptId,
    started: event,
    agreed,
    before,
    verdict: 'open',
    ended: null,
    unknownAt: null,
    neverSent: null,
  });
  return null;
}

function end(attempt: LoggedAttempt, verdict: Verdict, event: EventRow): void {
  attempt.verdict = verdict;
  attempt.ended ??= event;
  if (verdict === 'unknown' || verdict === 'accepted') attempt.unknownAt ??= event.recordedAt;
}

/** When the intent came to rest for the last time, by the commit of the event that did it; null while it can move. */
export function restedAt({ state, entered }: Log): number | null {
  return isAtRest(state) && entered ? entered.committedAt : null;
}
