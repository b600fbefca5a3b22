import { isDeepStrictEqual } from 'node:util';
import {
  type Command,
  countedAttempts,
  type Decision,
  type decide as decideByTheRules,
  evolve,
  fold,
  IllegalTransition,
  type Intent,
  type IntentEvent,
  isTerminal,
  keepsKey,
  nextState,
  type Terms,
} from '@intendant/intent';
import { Broken, demand } from './broken.js';

/** The rules under test; a model takes others in their place to show that it notices. */
export type Decide = typeof decideByTheRules;

/** One event as it happened; `askedAt` when it came from a lookup that found nothing. */
export interface Entry {
  readonly event: IntentEvent;
  readonly at: number;
  readonly askedAt: number | null;
}

export interface Step {
  readonly decision: Decision;
  readonly intent: Intent | null;
  readonly entries: readonly Entry[];
}

/**
 * Decides and evolves like the door does, and checks on the way what must be true of every step.
 * @throws Broken
 */
export function step(
  decide: Decide,
  command: Command,
  before: Intent | null,
  log: readonly Entry[],
  now: number,
): Step {
  deepFreeze(before);
  deepFreeze(command);
  const decision = decide(command, before, now);
  demand(isDeepStrictEqual(decide(command, before, now), decision), 'pure', 'the same question had two answers');
  if (decision.kind !== 'accepted') return { decision, intent: before, entries: [] };
  const askedAt = command.type === 'record_lookup' && command.answer.kind === 'absent' ? command.askedAt : null;
  const entries: Entry[] = [];
  let intent = before;
  for (const event of decision.events) {
    deepFreeze(event);
    if (event.type === 'attempt_started') mayStart(intent, [...log, ...entries], now);
    intent = deepFreeze(evolved(intent, event, now));
    entries.push({ event, at: now, askedAt });
  }
  if (intent) wellFormed(intent);
  return { decision, intent, entries };
}

/** One step of the log: legal, without a gap, and out of no terminal state. @throws Broken */
export function evolved(intent: Intent | null, event: IntentEvent, at: number): Intent {
  const next = legally(intent, event, at);
  const from = intent?.state ?? 'none';
  demand(next.state === nextState(from, event.type), 'I8', `${event.type} led from ${from} to ${next.state}`);
  demand(next.version === (intent?.version ?? 0) + 1, 'I8', `version ${next.version} after ${intent?.version ?? 0}`);
  demand(!intent || !isTerminal(intent) || next.state === intent.state, 'I8', `${from} was left by ${event.type}`);
  return next;
}

function legally(intent: Intent | null, event: IntentEvent, at: number): Intent {
  try {
    return evolve(intent, event, at);
  } catch (error) {
    if (error instanceof IllegalTransition) throw new Broken('I8', error.message);
    throw error;
  }
}

/** The log, read from its start, tells the state. @throws Broken */
export function foldsTo(log: readonly Entry[], intent: Intent | null): void {
  demand(isDeepStrictEqual(fold(log), intent), 'I8', 'the fold of the log is not the state');
}

/** @throws Broken */
export function wellFormed(intent: Intent): void {
  const { attempts } = intent;
  const open = attempts.filter((a) => a.verdict === 'open').length;
  demand(intent.state !== 'pending', 'I8', 'an append ended in pending');
  demand(
    attempts.every((a, i) => a.number === i + 1),
    'I8',
    'the attempts are not numbered 1, 2, …',
  );
  demand(new Set(attempts.map((a) => a.attemptId)).size === attempts.length, 'I5', 'two attempts share an id');
  demand(open === (intent.state === 'dispatching' ? 1 : 0), 'I6', `${open} attempts open in ${intent.state}`);
  const counted = countedAttempts(intent);
  demand(counted <= intent.maxAttempts, 'I7', `${counted} attempts where ${intent.maxAttempts} are allowed`);
}

/** Between two attempts lies proof that the earlier ones did not run, or absence, or a key that still holds. */
function mayStart(intent: Intent | null, log: readonly Entry[], now: number): void {
  const closed = log.find(({ event: { type } }) => type === 'failed' || type === 'cancelled' || type === 'expired');
  demand(!closed, 'I11', `an attempt was started after ${closed?.event.type}`);
  if (!intent || intent.attempts.length === 0) return;
  const proof = ruledOut(intent, log) || keyHolds(intent, now);
  demand(proof, 'I7', `attempt ${intent.attempts.length + 1} was started without proof`);
}

/** Each earlier attempt was refused, or is covered by two absences that came after it. */
function ruledOut(intent: Intent, log: readonly Entry[]): boolean {
  const refused = new Set(log.map(({ event }) => (event.type === 'attempt_not_executed' ? event.attempt : 0)));
  const absent = absentUpTo(intent.proposal.terms, log);
  return intent.attempts.every(({ number }) => refused.has(number) || number <= absent);
}

/** The last attempt that was under way before two settled and spaced absences; 0: none was. */
function absentUpTo(terms: Terms, log: readonly Entry[]): number {
  if (terms.lookup !== 'authoritative' || terms.guarantee === 'none') return 0;
  let [started, upTo, silentSince] = [0, 0, 0];
  let firstAbsence: number | null = null;
  for (const { event, at, askedAt } of log) {
    if (event.type === 'attempt_started') started = event.attempt;
    if (event.type === 'outcome_unknown' || event.type === 'accepted') silentSince = at;
    if (event.type === 'outcome_unknown' || event.type === 'accepted' || event.type === 'replay_requested') {
      firstAbsence = null;
    }
    const settled = askedAt !== null && askedAt >= silentSince + terms.settleMs;
    if (event.type !== 'lookup_absent' || !settled) continue;
    if (firstAbsence === null) firstAbsence = at;
    else if (askedAt - firstAbsence >= terms.spacingMs) upTo = started;
  }
  return upTo;
}

function keyHolds({ attempts, proposal: { terms } }: Intent, now: number): boolean {
  const first = attempts[0];
  return first !== undefined && keepsKey(terms) && now + terms.leaseMs <= first.startedAt + terms.retentionMs;
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const part of Object.values(value)) deepFreeze(part);
  }
  return value;
}
