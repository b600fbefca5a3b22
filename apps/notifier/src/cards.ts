import { resultOf } from '@intendant/contracts';
import { type In, newestOf, type Preview } from '@intendant/intent';
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
      return intent?.state === 'awaiting_approval' ? briefCard(intent) : null;
    },
  };
}

function briefCard(intent: In<'awaiting_approval'>): BriefCard | null {
  const { approval } = resultOf(intent, false);
  if (approval === undefined) return null;
  const { intentId, tool, sandbox, taintedBy } = intent.proposal;
  const { digest, impact, reversible, undo, preview, alike } = newestOf(intent.approvals);
  const { differs } = intent.approvals;
  return {
    ...{ intentId, tool, sandbox, digest, approval, impact, reversible, undo },
    preview:
      preview?.kind === 'shown'
        ? { before: JSON.stringify(preview.before), after: JSON.stringify(preview.after) }
        : null,
    notes: [
      ...(preview === null ? [] : previewNotes[preview.kind]),
      ...(taintedBy ? [`Its run had read text from outside before (intent ${taintedBy}).`] : []),
      ...(alike === null ? [] : [`It looks like an earlier call, intent ${alike}.`]),
      ...(differs.length === 0 ? [] : [`Asked again: ${differs.join(', ')} had changed when it was to be sent.`]),
    ],
  };
}

const previewNotes: Readonly<Record<Preview['kind'], readonly string[]>> = {
  asked: ['What would change is not known yet: nobody can agree before. This is told again then.'],
  failed: ['The upstream could not say what would change.'],
  shown: [],
};
