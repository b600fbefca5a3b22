import { httpStatusOf, type IntentResult, resultOf } from '@intendant/contracts';
import { type Intent, safeResendUntil } from '@intendant/intent';
import type { FastifyReply } from 'fastify';
import { type Problem, problemMembers, problemType } from './problem.js';

/**
 * The result itself, or with the members of RFC 9457 beside it. Its `status` stays the state of the intent: readers of
 * problem details ignore a member of another type (RFC 9457, section 3.1), readers of results need it.
 */
export type ResultBody = IntentResult & Partial<Pick<Problem, 'type' | 'title' | 'detail'>>;

/** Answers a submit: 200 settled, 202 with `Location` not yet, or the status of its error. */
export function answerSubmit(reply: FastifyReply, result: IntentResult): ResultBody {
  const status = httpStatusOf(result);
  reply.status(status);
  if (status === 202) reply.header('Location', `/v1/intents/${result.intentId}`);
  if (status < 400 || !result.error) return result;
  reply.type(problemType);
  return { ...result, ...problemMembers(result.error) };
}

/** A result as operators read it. */
export type OperatorResult = IntentResult & {
  /** Until when sending it again cannot double its effect; null where there is no such time. ISO 8601. */
  readonly safeResendUntil: string | null;
  /** Id of the grant that it goes by; null: by none. */
  readonly grant: string | null;
};

export function operatorResult(intent: Intent): OperatorResult {
  const until = safeResendUntil(intent);
  return {
    ...resultOf(intent, false),
    safeResendUntil: until === null ? null : new Date(until).toISOString(),
    grant: intent.proposal.grant ?? null,
  };
}

/** Answers a question about an intent. It was answered, so an error of the intent is not one of this request. */
export function answerState<T extends IntentResult>(reply: FastifyReply, result: T): T {
  reply.status(httpStatusOf(result) === 202 ? 202 : 200);
  return result;
}
