import type { ToolDefinition } from '@intendant/contracts';
import type { Terms } from '@intendant/intent';
import { longestDurationMs } from './duration.js';
import { parseRate } from './rate.js';
import { readShowing } from './read-result.js';
import { wholeNumber } from './read-spans.js';
import type { ToolSource } from './tool-source.js';
import type { Spans } from './windows.js';

export function readLimits(source: ToolSource, { connect, call, notice }: Spans): ToolDefinition['limits'] {
  return {
    connectMs: connect.ms,
    callMs: call.ms,
    noticeMs: notice?.ms ?? null,
    concurrency: wholeNumber(source, ['limits', 'concurrency'], 32),
    rate: parseRate(source.text('limits', 'ratePerTenant') ?? ''),
    cost: source.text('limits', 'cost'),
  };
}

/** The terms an intent of this tool is judged by, from a file that was checked. */
export function readTerms(source: ToolSource, spans: Spans): Terms {
  const { effect, guarantee, authority, attempts, lease, settle, spacing, deadline, poll, notice } = spans;
  const shows = readShowing(source);
  return {
    effect,
    guarantee,
    lookup: authority,
    maxAttempts: attempts,
    leaseMs: lease.ms,
    settleMs: settle.ms,
    spacingMs: spacing.ms,
    retentionMs: retentionMs(spans),
    deadlineMs: deadline.ms,
    backoffMs: source.duration(['retry', 'backoff'], '500ms'),
    ...(source.value('result', 'trust') === 'external' && { untrusted: true }),
    ...(notice && { noticeMs: notice.ms }),
    ...(shows && { shows }),
    poll: poll && { everyMs: poll.interval.ms, deadlineMs: poll.deadline.ms },
    counts: source.text('upstream', 'lookup', 'count') !== null,
  };
}

function retentionMs({ guarantee, keyRetention }: Spans): number {
  switch (guarantee) {
    case 'idempotency_key':
      return keyRetention?.ms ?? 0;
    case 'conditional_create':
      // What was created under our id stays there.
      return longestDurationMs;
    case 'lookup':
    case 'none':
      return 0;
  }
}
