import { errorObject } from '@intendant/contracts';
import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException, Logger } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { explainFailure, statusOf } from './explain-failure.js';
import { isMcp, McpErrors } from './mcp/mcp-errors.js';
import { problemOf, problemType } from './problem.js';

const retryAfterSeconds = '1';

/** Answers everything that fails with `application/problem+json`; what nobody expected is logged and told as `internal`. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  private readonly logger = new Logger('http');

  constructor(private readonly mcp: McpErrors) {}

  catch(failure: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    if (reply.sent) return;
    if (isMcp(request)) {
      this.mcp.answer(failure, request, reply);
      return;
    }
    const checks = readiness(failure);
    if (checks) {
      void reply.status(503).send(checks);
      return;
    }
    const error = explainFailure(failure, request) ?? this.unexpected(failure, request);
    const problem = problemOf(error, statusOf(failure, error));
    if (problem.status === 401) reply.header('WWW-Authenticate', 'Bearer');
    if (problem.status === 503) reply.header('Retry-After', retryAfterSeconds);
    const { until, retryAfterMs } = problem.error.details;
    if (problem.error.code === 'rate_limited' && typeof retryAfterMs === 'number') {
      reply.header('Retry-After', String(Math.ceil(retryAfterMs / 1_000)));
    }
    // RFC 9110 takes a date as well as seconds.
    if (problem.status === 423 && typeof until === 'string') reply.header('Retry-After', new Date(until).toUTCString());
    void reply.status(problem.status).type(problemType).send(problem);
  }

  private unexpected(failure: unknown, { method, url }: FastifyRequest) {
    this.logger.error(failure instanceof Error ? failure : String(failure), `${method} ${url.split('?')[0]}`);
    return errorObject('internal', 'The request failed inside Intendant; the log of the gateway says why.');
  }
}

/** The answer of `/readyz` has a shape of its own, the same in every service. */
function readiness(failure: unknown): object | null {
  if (!(failure instanceof HttpException)) return null;
  const body = failure.getResponse();
  return typeof body === 'object' && 'checks' in body ? body : null;
}
