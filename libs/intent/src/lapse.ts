import { approvalEnds } from './approval.js';
import type { IntentEvent } from './events.js';
import { authorize, nothingDone } from './follow-up.js';
import { type Clearance, type Intent, mayHaveRun } from './state.js';

/**
 * Silence is a no: what ends an intent whose approval has expired. Null while there is time, where nobody was asked, and
 * where an attempt may have run: that is completed, whatever the time.
 */
export function lapseOf(intent: Intent, now: number): IntentEvent | null {
  const ends = approvalEnds(intent);
  if (ends === null || now < ends || mayHaveRun(intent.attempts)) return null;
  const { tool } = intent.proposal;
  return {
    type: 'denied',
    failure: {
      code: 'approval_expired',
      message: `${tool} needed the approval of a person, and its time was over before it was given and sent. ${nothingDone(intent)}, and nothing will be sent. Nobody has refused it; ask your user whether it is still wanted.`,
      details: { expiredAt: new Date(ends).toISOString() },
    },
  };
}

/** People have agreed; what held it back otherwise still does. */
export function clearedFor({ notBefore, resendUntil }: Clearance): IntentEvent {
  return authorize('approved', notBefore, resendUntil);
}
