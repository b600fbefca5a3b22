import type { Intent, LookupAnswer, Terms, Verdict } from '@intendant/intent';

/** What may happen in an exploration. Times are counted in ticks. */
export interface Bounds {
  readonly name: string;
  readonly terms: Terms;
  readonly expiresAt: number;
  /** The clock stops here. */
  readonly horizon: number;
  /** Attempts over all; further ones are not explored. */
  readonly attempts: number;
  /** Longest time from the arrival of a request to its effect. */
  readonly processing: number;
  /** How far a lookup may lag behind an effect. */
  readonly lookupLag: number;
  /** How old the time may be by which a decision is made. */
  readonly skew: number;
  /**
   * `kept`: everybody does what is declared. `overdue`: effects come at any time. `stopped`: a sender may be stopped
   * between its last look at the lease and the first byte, for any time.
   */
  readonly declared: 'kept' | 'overdue' | 'stopped';
  readonly cancels: boolean;
  readonly resolves: boolean;
  readonly replays: number;
  /** Whether the upstream may answer 202, too. */
  readonly promises: boolean;
}

export const dispatcherStates = ['idle', 'started', 'checked', 'sent', 'reporting'] as const;
export const told = ['nothing', 'executed', 'refused', 'busy', 'accepted', 'unknown', 'unsent'] as const;

/** What a dispatcher reports. */
export const verdicts: Readonly<Record<Exclude<Dispatcher['told'], 'nothing'>, Verdict>> = {
  executed: { kind: 'executed', data: 'receipt' },
  refused: { kind: 'not_executed', cause: 'http_422', transient: false, retryAfterMs: null, detail: '' },
  busy: { kind: 'not_executed', cause: 'http_429', transient: true, retryAfterMs: null, detail: '' },
  accepted: { kind: 'accepted', data: 'job' },
  unknown: { kind: 'unknown', cause: 'call_timeout', detail: '' },
  unsent: {
    kind: 'not_executed',
    cause: 'connect_refused',
    transient: true,
    retryAfterMs: null,
    detail: '',
    sent: false,
  },
};

export interface Dispatcher {
  readonly at: (typeof dispatcherStates)[number];
  readonly attempt: number;
  /** When it started the attempt, for its own look at the lease; when reporting, when it knew. */
  readonly since: number;
  readonly told: (typeof told)[number];
}

export const reconcilerStates = ['idle', 'asking', 'answered'] as const;
export const answers = ['nothing', 'present', 'absent', 'cannot_tell'] as const;

export const lookups: Readonly<Record<Exclude<Reconciler['answer'], 'nothing'>, LookupAnswer>> = {
  present: { kind: 'present', data: 'receipt' },
  absent: { kind: 'absent' },
  cannot_tell: { kind: 'cannot_tell', detail: '' },
};

export interface Reconciler {
  readonly at: (typeof reconcilerStates)[number];
  /** Of what was found, when the answer was there; of all else, when it was asked for. */
  readonly when: number;
  readonly answer: (typeof answers)[number];
}

/** `done` took effect; `repeated` was answered from the memory of its key. */
export const requestStates = ['none', 'working', 'promised', 'refused', 'lost', 'done', 'repeated'] as const;

export interface Request {
  readonly is: (typeof requestStates)[number];
  /** When it arrived; of an effect, when it came about. */
  readonly since: number;
}

/** One intent, two dispatchers, two reconcilers and the upstream, at one moment. */
export interface World {
  readonly now: number;
  /** When the intent was last written. */
  readonly writtenAt: number;
  /** Its number in the book. */
  readonly intent: number;
  /** Absences since the outcome was last unknown that prove something, by what the world knows. */
  readonly absences: number;
  /** The attempts up to this one are ruled out by two of those. */
  readonly absentUpTo: number;
  readonly replays: number;
  readonly dispatchers: readonly [Dispatcher, Dispatcher];
  readonly reconcilers: readonly [Reconciler, Reconciler];
  /** By attempt, from the first. */
  readonly requests: readonly Request[];
}

export const idleDispatcher: Dispatcher = { at: 'idle', attempt: 0, since: 0, told: 'nothing' };
export const idleReconciler: Reconciler = { at: 'idle', when: 0, answer: 'nothing' };

/** The same text for worlds that differ only in which of two equal processes is which, or in times long past. */
export function encode(world: World, intent: Intent, bounds: Bounds): string {
  const { now, writtenAt, absences, absentUpTo, replays, dispatchers, reconcilers, requests } = world;
  // A time matters only while a decision may still be made by an older one.
  const recent = (time: number) => (now - time < bounds.skew ? time : 0);
  const leaseOver = now - (bounds.terms.leaseMs - bounds.skew);
  const working = ({ at, attempt, since, told: is }: Dispatcher) => {
    const lease = at === 'started' ? Math.max(since, leaseOver, 0) : 0;
    const when = at === 'reporting' ? recent(since) : lease;
    return String.fromCharCode(dispatcherStates.indexOf(at) * 8 + told.indexOf(is), attempt, when);
  };
  const asking = ({ at, when, answer }: Reconciler) =>
    String.fromCharCode(
      reconcilerStates.indexOf(at) * 8 + answers.indexOf(answer),
      mattering(answer, when, now - bounds.skew, intent, bounds.terms),
    );
  const under = ({ is, since }: Request) => {
    const lag = is === 'done' ? bounds.lookupLag : bounds.declared === 'overdue' ? 0 : bounds.processing + 1;
    const matters = (is === 'done' || is === 'working' || is === 'promised') && now - since < lag;
    return String.fromCharCode(requestStates.indexOf(is), matters ? since : 0);
  };
  return (
    String.fromCharCode(now, recent(writtenAt), world.intent, absences * 16 + absentUpTo * 4 + replays) +
    inOrder(working(dispatchers[0]), working(dispatchers[1])) +
    inOrder(asking(reconcilers[0]), asking(reconcilers[1])) +
    requests.map(under).join('')
  );
}

/** The earliest time that tells the rules the same about an answer; times from `recent` on may still tell them apart. */
function mattering(answer: Reconciler['answer'], when: number, recent: number, intent: Intent, terms: Terms): number {
  if (when >= recent) return when;
  if (answer === 'present') {
    const started = intent.attempts.at(-1)?.startedAt ?? 0;
    return when < started ? 0 : started;
  }
  if (intent.state !== 'unknown') return 0;
  const counts = Math.max(intent.settleAt, intent.absentAt === null ? 0 : intent.absentAt + terms.spacingMs);
  return when < counts ? 0 : counts;
}

function inOrder(one: string, other: string): string {
  return one < other ? one + other : other + one;
}

export function decode(text: string): World {
  const n = (i: number) => text.charCodeAt(i);
  const dispatcher = (i: number): Dispatcher => ({
    at: dispatcherStates[n(i) >> 3] as Dispatcher['at'],
    told: told[n(i) & 7] as Dispatcher['told'],
    attempt: n(i + 1),
    since: n(i + 2),
  });
  const reconciler = (i: number): Reconciler => ({
    at: reconcilerStates[n(i) >> 3] as Reconciler['at'],
    answer: answers[n(i) & 7] as Reconciler['answer'],
    when: n(i + 1),
  });
  const requests: Request[] = [];
  for (let i = 14; i < text.length; i += 2)
    requests.push({ is: requestStates[n(i)] as Request['is'], since: n(i + 1) });
  return {
    now: n(0),
    writtenAt: n(1),
    intent: n(2),
    absences: n(3) >> 4,
    absentUpTo: (n(3) >> 2) & 3,
    replays: n(3) & 3,
    dispatchers: [dispatcher(4), dispatcher(7)],
    reconcilers: [reconciler(10), reconciler(12)],
    requests,
  };
}

export function withRequest(world: World, index: number, request: Request): World {
  return { ...world, requests: world.requests.map((each, i) => (i === index ? request : each)) };
}

/** True of two processes in the same state. */
export function same<T extends object>(one: T, other: T): boolean {
  return (Object.keys(one) as (keyof T)[]).every((key) => one[key] === other[key]);
}
