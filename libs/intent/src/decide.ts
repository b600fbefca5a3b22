import type { Command, Decision } from './commands.js';
import { decideApproval } from './decide-approval.js';
import { decideAttempt } from './decide-attempt.js';
import { decideLookup } from './decide-lookup.js';
import { decideOperator } from './decide-operator.js';
import { decidePoll } from './decide-poll.js';
import { decideReview } from './decide-review.js';
import { decideVerdict } from './decide-verdict.js';
import { accept, reject, unchanged } from './decision.js';
import { ruled } from './ruled.js';
import type { Intent } from './state.js';

/**
 * What happens to an intent when `command` reaches it at `now` (ms since the epoch, database clock).
 * Pure: the same arguments give the same decision, on every replica and in every replay.
 */
export function decide(command: Command, intent: Intent | null, now: number): Decision {
  if (command.type === 'record') {
    if (intent === null) {
      const { proposal, ruling } = command;
      return accept({ type: 'recorded', proposal }, ruled(ruling));
    }
    return intent.proposal.fingerprint === command.proposal.fingerprint ? unchanged : reject('idempotency_conflict');
  }
  if (intent === null) return reject('no_such_intent');
  switch (command.type) {
    case 'start_attempt':
      return decideAttempt(command, intent, now);
    case 'record_verdict':
      return decideVerdict(command, intent, now);
    case 'expire_lease':
      if (intent.state !== 'dispatching' || now < intent.attempt.leaseUntil) return unchanged;
      return decideVerdict(
        {
          attemptId: intent.attempt.attemptId,
          verdict: {
            kind: 'unknown',
            cause: 'lease_expired',
            detail: 'the dispatcher did not report a verdict in time',
          },
          jitter: command.jitter,
        },
        intent,
        now,
      );
    case 'record_lookup':
      return decideLookup(command, intent, now);
    case 'record_poll':
      return decidePoll(command.answer, command.askedAt, intent, now);
    case 'record_review':
      return decideReview(command.answer, intent, now);
    case 'approve':
    case 'refuse':
    case 'withdraw':
    case 'show_preview':
    case 'judge_again':
      return decideApproval(command, intent, now);
    case 'cancel':
    case 'expire':
    case 'replay':
    case 'resolve':
      return decideOperator(command, intent, now);
  }
}
