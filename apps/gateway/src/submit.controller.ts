import { Bus } from '@intendant/bus';
import { type IntentResult, Refusal, stepIdPattern, subjects } from '@intendant/contracts';
import { Controller, Get, Post, Query, Req, Res } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiBody, ApiHeader, ApiOkResponse, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ask } from './ask.js';
import { Authentication } from './authentication.js';
import { rawBody } from './body-parsers.js';
import { callAgain } from './call-again.js';
import { forwarded } from './forwarded.js';
import { ForAgents, Problems, Results, WaitHeader } from './openapi-decorators.js';
import { toolIntent, toolList } from './openapi-schemas.js';
import { preferredWait } from './prefer.js';
import { ToolsQuery } from './queries.js';
import { readMessage } from './read-message.js';
import { answerSubmit, type ResultBody } from './result-response.js';
import { submitRefusals } from './submit-refusals.js';

/** How long admission may take beyond the wait the caller asked for, in ms. */
const admissionMs = 10_000;

/** What an agent does: look at its tools, propose a call. The policy service answers both. */
@ApiTags('agents')
@ForAgents()
@Controller('v1')
export class SubmitController {
  constructor(
    private readonly authentication: Authentication,
    private readonly bus: Bus,
  ) {}

  @Get('tools')
  @ApiOperation({ summary: 'The tools this run may call, as a model may see them' })
  @ApiQuery({ name: 'query', required: false, description: 'Words, in any order, all in the name or the description.' })
  @ApiQuery({ name: 'namespace', required: false, example: 'payments' })
  @ApiOkResponse({ description: 'The tools.', schema: toolList })
  @Problems('invalid_message', 'unauthenticated', 'run_closed', 'forbidden', 'unavailable')
  async tools(@Req() request: FastifyRequest, @Query() query: unknown): Promise<unknown> {
    await this.authentication.agent(request);
    const payload = JSON.stringify(await readMessage(ToolsQuery, query));
    return ask(this.bus, subjects.rpcTools, { payload, headers: forwarded(request), timeoutMs: admissionMs });
  }

  @Post('intents')
  @RouteConfig(rawBody)
  @ApiOperation({
    summary: 'Propose one call of one tool',
    description:
      'The same step and arguments sent again are answered from the first intent; no effect happens twice. Without a step the same call is made again once it is over and only read, or did nothing.',
  })
  @ApiHeader({ name: 'traceparent', required: false, description: 'W3C trace context.' })
  @ApiHeader({
    name: 'Idempotency-Key',
    required: false,
    description:
      'The step, as `stepId` in the body, for runtimes that keep it out of what the model writes. With or without quotes; where both are given they have to be the same.',
    example: 's3',
  })
  @WaitHeader()
  @ApiBody({ schema: toolIntent })
  @Results('Settled.', 'Recorded; the outcome is not known yet. `Location` is where to read it.')
  @Problems(...submitRefusals)
  async submit(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply): Promise<ResultBody> {
    await this.authentication.agent(request);
    if (!Buffer.isBuffer(request.body)) {
      throw new Refusal('invalid_message', 'There is no body: send a ToolIntent as application/json.');
    }
    const wait = preferredWait(request, reply);
    const payload = request.body;
    const headers = { ...forwarded(request), ...stepOf(request), ...(wait > 0 && { 'Intendant-Wait': `${wait}s` }) };
    const result = await callAgain(
      () => request.raw.socket.destroyed,
      (after) =>
        ask<IntentResult>(this.bus, subjects.rpcSubmit, {
          ...{ payload, headers: { ...headers, ...after }, timeoutMs: wait * 1_000 + admissionMs },
        }),
    );
    return answerSubmit(reply, result);
  }
}

/** `Idempotency-Key` is a quoted string by its specification, and bare in most uses. @throws Refusal */
function stepOf({ headers }: FastifyRequest): Record<string, string> {
  const key = headers['idempotency-key'];
  if (key === undefined) return {};
  const [, quoted, bare] = /^(?:"(.*)"|([^"](?:.*[^"])?))$/.exec(String(key)) ?? [];
  const step = quoted ?? bare ?? '';
  if (stepIdPattern.test(step)) return { 'Intendant-Step': step };
  throw new Refusal(
    'invalid_message',
    'The header Idempotency-Key must be 1 to 128 printable ASCII characters without spaces, given once, with quotes around all of it, or none. Nothing was recorded.',
  );
}
