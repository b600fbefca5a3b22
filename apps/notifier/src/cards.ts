import { resultOf } from '@intendant/contracts';
import { newestOf } from '@intendant/intent';
import type { BriefCard } from '@intendant/slack';
import type { Store } from '@intendant/store';

export interface CardReader {
  /** What is asked about an intent now; null where nobody is asked any more. */
  cardOf(intentId: string): Promise<BriefCard | null>;
}

/** Text and digest come from one state: whoever agrees to the digest has seen that text. */
export function storedCards(store: Store): CardReader {
  return {
    cardOf: async (intentId) => {
      const intent = await store.intents.load(intentId);
      if (intent?.state !== 'awaiting_approval') return null;
      const { tool, approval } = resultOf(intent, false);
      return approval === undefined ? null : { intentId, tool, digest: newestOf(intent.approvals).digest, approval };
    },
  };
}
