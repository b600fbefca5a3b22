import type { Decision } from './commands.js';
import { accept, unchanged } from './decision.js';
import { type Intent, needsReview } from './state.js';
import type { LookupAnswer } from './verdict.js';

/** One more look after a commit that relied on absences: is there an effect too many? */
export function decideReview(answer: LookupAnswer, intent: Intent, now: number): Decision {
  if (intent.state !== 'committed' || !needsReview(intent)) return unchanged;
  const { settleMs, deadlineMs } = intent.proposal.terms;
  switch (answer.kind) {
    case 'present': {
      const { excess = 0, data } = answer;
      if (excess === 0) return accept({ type: 'reviewed', detail: 'one effect' });
      if (intent.corrections.some((c) => c.finding === 'second_effect')) {
        return accept({ type: 'reviewed', detail: 'known already' });
      }
      const detail = `${excess} more than asked for`;
      return accept(
        { type: 'corrected', attempt: null, finding: 'second_effect', data, breach: 'max_processing' },
        { type: 'reviewed', detail },
      );
    }
    case 'absent':
    case 'partial':
    case 'cannot_tell': {
      const detail = answer.kind === 'absent' ? 'not found' : answer.detail;
      // Asked again later; a lookup that is down must not hide a second effect.
      return now < intent.since + settleMs + deadlineMs ? unchanged : accept({ type: 'reviewed', detail });
    }
  }
}
