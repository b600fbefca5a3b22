import type { Intent, Proposal, Verdict } from '@intendant/intent';
import { proposal, quickTerms, type TestDatabase } from '@intendant/testing';
import { ulid } from 'ulid';
import type { Store } from './store.js';

export const allow = { allow: true } as const;
export const lostAnswer: Verdict = { kind: 'unknown', cause: 'http_502', detail: 'bad gateway' };

export function record(over: Partial<Proposal> = {}) {
  const p = proposal(over);
  return { intentId: p.intentId, command: { type: 'record', proposal: p, ruling: allow } } as const;
}

export function start(intentId: string, attemptId = ulid()) {
  return { intentId, command: { type: 'start_attempt', attemptId } } as const;
}

export function report(intentId: string, attemptId: string, verdict: Verdict) {
  return { intentId, command: { type: 'record_verdict', attemptId, verdict, jitter: 0 } } as const;
}

/** A recorded intent, taken as far as `state`; returns its id. */
export async function given(
  store: Store,
  state: 'authorized' | 'dispatching' | 'unknown' | 'committed',
  over: Partial<Proposal> = {},
): Promise<string> {
  const { door } = store;
  const command = record(over);
  const { intentId } = command;
  await door.execute(command);
  if (state === 'authorized') return intentId;
  const attemptId = ulid();
  await door.execute(start(intentId, attemptId));
  if (state === 'dispatching') return intentId;
  const verdict: Verdict = state === 'unknown' ? lostAnswer : { kind: 'executed', data: { refund_id: 're_1' } };
  const { intent } = await door.execute(report(intentId, attemptId, verdict));
  if (intent?.state !== state) throw new Error(`the intent is ${intent?.state}, not ${state}`);
  return intentId;
}

/** Terms of a tool that differ from the quick ones. */
export const terms = (over: Partial<Intent['proposal']['terms']>) => ({ ...quickTerms, ...over });

/** Makes the intents' time come `ms` ago. */
export async function due(database: TestDatabase, intentIds: readonly string[], ms = 1_000): Promise<void> {
  await database.query("UPDATE intents SET wake_at = clock_timestamp() - $2 * interval '1 ms' WHERE id = ANY ($1)", [
    intentIds,
    ms,
  ]);
}
