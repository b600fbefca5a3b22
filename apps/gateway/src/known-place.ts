import { Refusal } from '@intendant/contracts';
import type { Intent } from '@intendant/intent';
import type { Store } from '@intendant/store';
import { readPosition } from './feeds.js';

/**
 * Whoever would go on after an event that never was would wait for what comes after it and miss everything before.
 *
 * @param after version of an event of `intent`, as it was told; undefined: from the beginning
 * @throws Refusal `invalid_message`
 */
export function requireVersion({ version, proposal: { intentId } }: Intent, after: string | undefined): void {
  // What is no number is refused by whoever reads it.
  if (after === undefined || !(Number(after) > version)) return;
  throw nowhere(after, `intent ${intentId} has ${version} so far`);
}

/** The same for a place in the log of a run. @throws Refusal `invalid_message` */
export async function requirePlace(store: Store, runId: string, after: string | undefined): Promise<void> {
  if (after === undefined) return;
  const place = readPosition(after);
  const { positions } = await store.runLog.after(runId, { ...place, version: place.version - 1 }, 1);
  const [found] = positions;
  const same = found?.xid === place.xid && found.intentId === place.intentId && found.version === place.version;
  if (!same) throw nowhere(after, 'it is no event of this run');
}

function nowhere(got: string, why: string): Refusal {
  return new Refusal(
    'invalid_message',
    `Last-Event-ID or cursor: there is no event ${got.slice(0, 80)} to go on after: ${why}. Leave it out to read from the beginning.`,
  );
}
