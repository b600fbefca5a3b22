import type { Decision } from './commands.js';
import { decideLookup } from './decide-lookup.js';
import { accept, unchanged } from './decision.js';
import { afterNotExecuted } from './not-executed.js';
import type { Intent } from './state.js';
import type { PollAnswer } from './verdict.js';

/** What became of a request that the upstream had accepted: done is the effect, given up is proof that there is none. */
export function decidePoll(answer: PollAnswer, askedAt: number, intent: Intent, now: number): Decision {
  if (intent.state !== 'accepted') {
    // The answer to a question from before, about what was accepted then; what was done counts as what a lookup finds.
    return answer.kind === 'executed' && intent.attempts.some((a) => a.verdict === 'accepted')
      ? decideLookup({ answer: { kind: 'present', data: answer.data }, askedAt, answeredAt: askedAt }, intent, now)
      : unchanged;
  }
  const attempt = intent.attempts.findLast((a) => a.verdict === 'accepted');
  switch (answer.kind) {
    case 'executed':
      return accept({ type: 'committed', proof: 'poll', attempt: attempt?.number ?? null, data: answer.data });
    case 'failed': {
      if (!attempt) return unchanged;
      const { detail } = answer;
      const verdict = {
        kind: 'not_executed',
        cause: 'operation_failed',
        transient: false,
        retryAfterMs: null,
        detail,
      } as const;
      return afterNotExecuted(attempt, verdict, 0, intent, now);
    }
    case 'pending': {
      const { detail } = answer;
      if (now >= intent.deadline) return accept({ type: 'dead_lettered', reason: 'poll_deadline', detail });
      const { poll, backoffMs } = intent.proposal.terms;
      return accept({ type: 'lookup_inconclusive', detail, dueAt: now + (poll?.everyMs ?? backoffMs) });
    }
  }
}
