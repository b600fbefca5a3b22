import type { Verdict } from '@intendant/intent';
import type { ExchangeResult } from './exchange.js';
import { messageOf } from './short-text.js';
import { codeOf, sentCause, unsentRule } from './transport-errors.js';

type Failed = Exclude<ExchangeResult, { kind: 'answer' }>;
type NotExecuted = Extract<Verdict, { kind: 'not_executed' }>;
type Unknown = Extract<Verdict, { kind: 'unknown' }>;

/** The verdict of an attempt that got no answer: decided by whether bytes left, the error only names the cause. */
export function failureVerdict(result: Failed): NotExecuted | Unknown {
  if (result.kind === 'refused') return notExecuted('lease_over', true, result.detail);
  const detail = detailOf(result);
  switch (result.kind) {
    case 'connect_timeout':
      return notExecuted('connect_timeout', true, detail);
    case 'timeout':
      return result.sent ? unknown('call_timeout', detail) : notExecuted('call_timeout_unsent', true, detail);
    case 'aborted':
      return result.sent ? unknown('aborted', detail) : notExecuted('aborted_unsent', true, detail);
    case 'failed': {
      if (result.sent) return unknown(sentCause(result.error, result.status), detail);
      const { cause, transient } = unsentRule(result.error);
      return notExecuted(cause, transient, detail);
    }
  }
}

/** No byte of it left; what an upstream refused is another matter, see answer-verdict.ts. */
export function notExecuted(cause: string, transient: boolean, detail: string): NotExecuted {
  return { kind: 'not_executed', cause, transient, retryAfterMs: null, detail, sent: false };
}

function unknown(cause: string, detail: string): Unknown {
  return { kind: 'unknown', cause, detail };
}

function detailOf({ error, status }: Exclude<Failed, { kind: 'refused' }>): string {
  const words = [codeOf(error), messageOf(error)].filter((word) => word !== '').join(': ');
  return status === null ? words : `status ${status} had arrived; ${words}`;
}
