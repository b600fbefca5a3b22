import { type ErrorCode, errorKinds } from '@intendant/contracts';
import { applyDecorators } from '@nestjs/common';
import { ApiBearerAuth, ApiHeader, ApiQuery, ApiResponse } from '@nestjs/swagger';
import { refTo, type Schema } from './openapi-schemas.js';
import { problemType } from './problem.js';
import { states } from './queries.js';

/** What the API document says about routes, so that controllers stay readable. */
type Decorator = MethodDecorator & ClassDecorator;

export const ForServices = (): Decorator => ApiBearerAuth('serviceKey');
export const ForAgents = (): Decorator => ApiBearerAuth('runToken');
export const ForOperators = (): Decorator => ApiBearerAuth('operatorKey');
export const ForAgentsAndOperators = (): Decorator =>
  applyDecorators(ApiBearerAuth('runToken'), ApiBearerAuth('operatorKey'));

/** The errors a route can answer with, one response for each status. */
export function Problems(...codes: readonly ErrorCode[]): MethodDecorator {
  const statuses = [...new Set(codes.map((code) => errorKinds[code].http))];
  const responses = statuses.map((status) =>
    ApiResponse({
      status,
      description: codes
        .filter((code) => errorKinds[code].http === status)
        .map((code) => `\`${code}\``)
        .join(', '),
      content: { [problemType]: { schema: refTo('Problem') } },
    }),
  );
  return applyDecorators(...responses);
}

/** An intent's result, settled (200) and, where that can be, not yet (202). */
export function Results(settled: string, open?: string): MethodDecorator {
  const schema = refTo('IntentResult');
  const content = { 'application/json': { schema } };
  const responses = [ApiResponse({ status: 200, description: settled, content })];
  if (open !== undefined) responses.push(ApiResponse({ status: 202, description: open, content }));
  return applyDecorators(...responses);
}

export const WaitHeader = (): MethodDecorator =>
  ApiHeader({
    name: 'Prefer',
    required: false,
    description: '`wait=N` (RFC 7240): seconds to wait for an outcome, 30 at most.',
    example: 'wait=10',
  });

/** `GET` that answers 304 where the caller has it already. */
export const Unchanged = (): MethodDecorator =>
  applyDecorators(
    ApiHeader({
      name: 'If-None-Match',
      required: false,
      description: '`ETag` of an answer before. With `Prefer: wait=N`, waits until there is another one.',
      example: '"3"',
    }),
    ApiResponse({ status: 304, description: 'It is as the caller knows it.' }),
  );

/** A list that is also served as server-sent events. `ids`: what their ids are. */
export const EventStream = (ids: string, list: Schema): MethodDecorator =>
  applyDecorators(
    ApiHeader({
      name: 'Accept',
      required: false,
      description: '`text/event-stream`: the events there are and all that follow, as server-sent events.',
      example: 'text/event-stream',
    }),
    ApiHeader({ name: 'Last-Event-ID', required: false, description: 'Go on after this event of the stream.' }),
    ApiResponse({
      status: 200,
      description: `The events; as a stream, \`event\` is the type, \`data\` the same JSON, and \`id\`: ${ids} \`event: end\` is the last one, with the reason \`over\`, \`settled\` (a correction may follow) or \`token_expired\`.`,
      content: {
        'application/json': { schema: list },
        'text/event-stream': { schema: { type: 'string' } },
      },
    }),
    ApiResponse({ status: 204, description: 'As a stream: there is nothing more, and nothing more will come.' }),
  );

export const PageFilters = (): MethodDecorator =>
  applyDecorators(
    ApiQuery({ name: 'cursor', required: false, description: '`nextCursor` of the page before.' }),
    ApiQuery({ name: 'limit', required: false, description: '1 to 200, 50 without it.', example: '50' }),
  );

export const IntentFilters = (): MethodDecorator =>
  applyDecorators(
    ApiQuery({ name: 'state', required: false, enum: states }),
    ApiQuery({ name: 'tool', required: false, example: 'payments.refund.create' }),
    ApiQuery({ name: 'sandbox', required: false, enum: ['true', 'false'], description: 'Of the sandbox, or real.' }),
    ApiQuery({ name: 'tenant', required: false }),
    ApiQuery({ name: 'runId', required: false }),
    ApiQuery({
      name: 'olderThan',
      required: false,
      description: 'In its state for at least this long.',
      example: '10m',
    }),
    PageFilters(),
  );

export const ApprovalFilters = (): MethodDecorator =>
  applyDecorators(
    ApiQuery({ name: 'tenant', required: false }),
    ApiQuery({ name: 'tool', required: false, example: 'payments.refund.create' }),
    PageFilters(),
  );

export const DecisionFilters = (): MethodDecorator =>
  applyDecorators(
    ApiQuery({
      name: 'since',
      required: true,
      description: 'A duration that ends now, or a time (RFC 3339).',
      example: '7d',
    }),
    ApiQuery({ name: 'tenant', required: false }),
    ApiQuery({ name: 'tool', required: false, example: 'payments.refund.create' }),
    PageFilters(),
  );
