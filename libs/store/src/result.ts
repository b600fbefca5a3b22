import type { Intent, IntentEvent, Rejection } from '@intendant/intent';

/** What became of a command. */
export type Result =
  /** It took effect; `events` are empty when it had taken effect before under the same command id. */
  | { readonly kind: 'accepted'; readonly intent: Intent; readonly events: readonly IntentEvent[] }
  /** It is so already; `intent` is how it stands. */
  | { readonly kind: 'unchanged'; readonly intent: Intent }
  | { readonly kind: 'rejected'; readonly reason: Rejection; readonly intent: Intent | null }
  /** In a closed run nothing new is recorded. */
  | { readonly kind: 'rejected'; readonly reason: 'run_closed'; readonly intent: null };
