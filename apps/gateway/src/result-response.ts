import { httpStatusOf, type IntentResult } from '@intendant/contracts';
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

/** Answers a question about an intent. It was answered, so an error of the intent is not one of this request. */
export function answerState(reply: FastifyReply, result: IntentResult): IntentResult {
  reply.status(httpStatusOf(result) === 202 ? 202 : 200);
  return result;
}
