import type { ErrorCode } from '@intendant/contracts';

/** What a submit may be answered with instead of a result. An error inside, `internal`, can befall every request. */
export const submitRefusals = [
  'invalid_message',
  'invalid_arguments',
  'unauthenticated',
  'run_closed',
  'permission_denied',
  'rule_denied',
  'denied_before',
  'budget_exhausted',
  'rate_limited',
  'idempotency_conflict',
  'duplicate_business_operation',
  'blocked_by_unknown',
  'fabricated_identifier',
  'paused',
  'unknown_tool',
  'unavailable',
] as const satisfies readonly ErrorCode[];
