import { type IntentResult, resultOf } from '@intendant/contracts';
import type { StateName } from '@intendant/intent';
import { monotonic } from '@intendant/runtime';
import { hasOutcome, type Store } from '@intendant/store';

/** Where the tool has no notice limit, and never more often than the second. In ms. */
const usualMs = 2_000;
const leastMs = 1_000;

/** `waitedMs` is larger each time. */
export type Tell = (result: IntentResult, waitedMs: number) => Promise<void>;

/**
 * Tells a waiting caller how an intent stands, until `signal` is aborted: from the notice limit of its tool on, and again
 * whenever as much time has passed; at once where only a person, or the upstream's own time, can help.
 */
export async function tellProgress(store: Store, intentId: string, tell: Tell, signal: AbortSignal): Promise<void> {
  const began = monotonic();
  let last = -1;
  let said: StateName | null = null;
  for (let next: number | null = null; ; ) {
    const intent = await store.intents.load(intentId);
    const waited = Math.max(Math.round(monotonic() - began), last + 1);
    if (intent === null || hasOutcome(intent) || signal.aborted) return;
    const { state, version, proposal } = intent;
    const noticeMs = proposal.terms.noticeMs ?? usualMs;
    next ??= noticeMs;
    if (waited >= next || (isLong(state) && state !== said)) {
      last = waited;
      said = state;
      next = waited + Math.max(noticeMs, leastMs);
      await tell(resultOf(intent, false), waited);
    }
    await store.changes.wait('intent', intentId, version, next - waited, signal);
  }
}

/** Waiting a moment longer will hardly help. */
export function isLong(state: StateName): boolean {
  return state === 'awaiting_approval' || state === 'accepted' || state === 'unknown';
}
