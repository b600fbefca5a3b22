import { expect } from 'vitest';
import type { Command } from './commands.js';
import { decide } from './decide.js';
import type { IntentEvent } from './events.js';
import { evolve, fold } from './evolve.js';
import { countedAttempts, type Intent, isTerminal } from './state.js';
import { keepsKey } from './terms.js';
import { nextState } from './transitions.js';

/** One event as it happened; `askedAt` when it came from a lookup. */
export interface Entry {
  readonly event: IntentEvent;
  readonly at: number;
  readonly askedAt: number | null;
}

/** Decides and evolves like the door does, and checks on the way what must be true of every step. */
export function step(command: Command, before: Intent | null, log: readonly Entry[], now: number) {
  deepFreeze(before);
  deepFreeze(command);
  const decision = decide(command, before, now);
  expect(decide(command, before, now)).toEqual(decision);
  if (decision.kind !== 'accepted') return { decision, intent: before, entries: [] };
  const askedAt = command.type === 'record_lookup' ? command.askedAt : null;
  const entries: Entry[] = [];
  let intent = before;
  for (const event of decision.events) {
    deepFreeze(event);
    const legal = nextState(intent?.state ?? 'none', event.type);
    if (event.type === 'attempt_started') mayStart(intent, [...log, ...entries], now);
    const next = deepFreeze(evolve(intent, event, now));
    expect(next.state).toBe(legal);
    expect(next.version).toBe((intent?.version ?? 0) + 1);
    if (intent && isTerminal(intent)) expect(next.state).toBe(intent.state);
    entries.push({ event, at: now, askedAt });
    intent = next;
  }
  expect(fold([...log, ...entries])).toEqual(intent);
  if (intent) wellFormed(intent);
  return { decision, intent, entries };
}

function wellFormed(intent: Intent): void {
  const { attempts } = intent;
  expect(intent.state).not.toBe('pending');
  expect(attempts.map((a) => a.number)).toEqual(attempts.map((_, i) => i + 1));
  expect(new Set(attempts.map((a) => a.attemptId)).size).toBe(attempts.length);
  expect(attempts.filter((a) => a.verdict === 'open').length).toBe(intent.state === 'dispatching' ? 1 : 0);
  expect(countedAttempts(intent)).toBeLessThanOrEqual(intent.maxAttempts);
}

/** Between two attempts lies proof that the earlier ones did not run, or absence, or a key that still holds. */
function mayStart(intent: Intent | null, log: readonly Entry[], now: number): void {
  expect(
    log.some(({ event }) => event.type === 'failed' || event.type === 'cancelled' || event.type === 'expired'),
  ).toBe(false);
  if (!intent || intent.attempts.length === 0) return;
  const proof = notExecuted(intent, log) || absentTwice(intent, log) || keyHolds(intent, now);
  expect(proof, 'an attempt without proof').toBe(true);
}

function notExecuted(intent: Intent, log: readonly Entry[]): boolean {
  return intent.attempts.every((a) =>
    log.some(({ event }) => event.type === 'attempt_not_executed' && event.attempt === a.number),
  );
}

function absentTwice(intent: Intent, log: readonly Entry[]): boolean {
  const { terms } = intent.proposal;
  if (terms.lookup !== 'authoritative' || terms.guarantee === 'none') return false;
  const from = log.findLastIndex(({ event }) => event.type === 'outcome_unknown' || event.type === 'replay_requested');
  const silentSince =
    log.findLast(({ event }) => event.type === 'outcome_unknown' || event.type === 'accepted')?.at ?? 0;
  const asked = log.slice(from).filter(({ event }) => event.type === 'lookup_absent');
  const [first, last] = [asked[0], asked.at(-1)];
  if (!first || !last || first === last) return false;
  const settled = asked.every(({ askedAt }) => askedAt !== null && askedAt >= silentSince + terms.settleMs);
  return settled && last.askedAt !== null && last.askedAt - first.at >= terms.spacingMs;
}

function keyHolds({ attempts, proposal: { terms } }: Intent, now: number): boolean {
  const first = attempts[0];
  return first !== undefined && keepsKey(terms) && now + terms.leaseMs <= first.startedAt + terms.retentionMs;
}

export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const part of Object.values(value)) deepFreeze(part);
  }
  return value;
}
