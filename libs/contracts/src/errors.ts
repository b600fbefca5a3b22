import type { JsonObject } from '@intendant/intent';

export type ErrorCategory = 'validation' | 'policy' | 'conflict' | 'dependency' | 'internal';
export type NextAction = 'fix_arguments' | 'wait' | 'check_outcome' | 'ask_human' | 'choose_other_tool' | 'stop';

/** The error object of the public contract; the same on every surface. */
export interface ErrorObject {
  readonly code: ErrorCode;
  readonly category: ErrorCategory;
  readonly message: string;
  /** The same request may succeed later, and sending it again cannot double an effect. */
  readonly retryable: boolean;
  readonly nextAction: NextAction;
  readonly details: JsonObject;
}

interface Kind {
  readonly http: number;
  readonly category: ErrorCategory;
  readonly nextAction: NextAction;
  readonly retryable: boolean;
}

/** Every code a caller can meet, with its HTTP status; 200 and 202 are answers about an intent that was recorded. */
export const errorKinds = {
  invalid_message: { http: 400, category: 'validation', nextAction: 'fix_arguments', retryable: false },
  unauthenticated: { http: 401, category: 'policy', nextAction: 'stop', retryable: false },
  run_closed: { http: 401, category: 'policy', nextAction: 'stop', retryable: false },
  forbidden: { http: 403, category: 'policy', nextAction: 'stop', retryable: false },
  not_found: { http: 404, category: 'validation', nextAction: 'stop', retryable: false },
  unknown_tool: { http: 404, category: 'validation', nextAction: 'choose_other_tool', retryable: false },
  invalid_arguments: { http: 422, category: 'validation', nextAction: 'fix_arguments', retryable: false },
  permission_denied: { http: 403, category: 'policy', nextAction: 'stop', retryable: false },
  fabricated_identifier: { http: 422, category: 'validation', nextAction: 'fix_arguments', retryable: false },
  approval_refused: { http: 403, category: 'policy', nextAction: 'stop', retryable: false },
  approval_expired: { http: 403, category: 'policy', nextAction: 'ask_human', retryable: false },
  denied_before: { http: 403, category: 'policy', nextAction: 'stop', retryable: false },
  rule_denied: { http: 403, category: 'policy', nextAction: 'stop', retryable: false },
  budget_exhausted: { http: 429, category: 'policy', nextAction: 'stop', retryable: false },
  rate_limited: { http: 429, category: 'policy', nextAction: 'wait', retryable: true },
  duplicate_business_operation: { http: 409, category: 'conflict', nextAction: 'check_outcome', retryable: false },
  blocked_by_unknown: { http: 409, category: 'conflict', nextAction: 'check_outcome', retryable: false },
  paused: { http: 423, category: 'policy', nextAction: 'wait', retryable: true },
  idempotency_conflict: { http: 422, category: 'conflict', nextAction: 'stop', retryable: false },
  conflict: { http: 409, category: 'conflict', nextAction: 'check_outcome', retryable: false },
  upstream_rejected: { http: 200, category: 'dependency', nextAction: 'fix_arguments', retryable: false },
  upstream_unavailable: { http: 200, category: 'dependency', nextAction: 'wait', retryable: true },
  tool_timeout: { http: 200, category: 'dependency', nextAction: 'wait', retryable: true },
  output_invalid: { http: 200, category: 'dependency', nextAction: 'stop', retryable: false },
  resolved_not_executed: { http: 200, category: 'dependency', nextAction: 'stop', retryable: false },
  cancelled: { http: 200, category: 'policy', nextAction: 'stop', retryable: false },
  expired: { http: 200, category: 'policy', nextAction: 'stop', retryable: false },
  outcome_unknown: { http: 202, category: 'dependency', nextAction: 'check_outcome', retryable: false },
  dead_lettered: { http: 202, category: 'dependency', nextAction: 'ask_human', retryable: false },
  unavailable: { http: 503, category: 'internal', nextAction: 'wait', retryable: true },
  internal: { http: 500, category: 'internal', nextAction: 'wait', retryable: true },
} as const satisfies Record<string, Kind>;

export type ErrorCode = keyof typeof errorKinds;

/** `next`: where something else helps than with other errors of that code. */
export function errorObject(
  code: ErrorCode,
  message: string,
  details: JsonObject = {},
  next?: NextAction,
): ErrorObject {
  const { category, nextAction, retryable } = errorKinds[code];
  return { code, category, message, retryable, nextAction: next ?? nextAction, details };
}

/** A request that is answered with an error and changes nothing. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly error: ErrorObject;

  constructor(code: ErrorCode, message: string, details: JsonObject = {}, next?: NextAction) {
    super(message);
    this.error = errorObject(code, message, details, next);
  }
}
