import { type IntentResult, resultOf } from '@intendant/contracts';
import type { Intent } from '@intendant/intent';
import { hasOutcome, Store } from '@intendant/store';
import { Controller, Get, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Authentication } from './authentication.js';
import { intentAfter } from './command-answer.js';
import { timeline, withoutInjected } from './history.js';
import { ForAgentsAndOperators, Problems, Results, WaitHeader } from './openapi-decorators.js';
import { eventList } from './openapi-schemas.js';
import { preferredWait } from './prefer.js';
import { answerState, type OperatorResult, operatorResult } from './result-response.js';
import { visibleIntent } from './tenants.js';

/** One intent, for the agent whose run it belongs to and for the operators of its tenant. */
@ApiTags('intents')
@ForAgentsAndOperators()
@Controller('v1/intents/:intentId')
export class IntentsController {
  constructor(
    private readonly authentication: Authentication,
    private readonly store: Store,
  ) {}

  @Get()
  @ApiOperation({ summary: 'How an intent stands, or its outcome after waiting for it' })
  @WaitHeader()
  @Results('Settled.', 'The outcome is not known yet.')
  @Problems('unauthenticated', 'forbidden', 'not_found', 'unavailable')
  async read(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Param('intentId') intentId: string,
  ): Promise<IntentResult | OperatorResult> {
    const reader = await this.authentication.agentOrOperator(request, 'viewer');
    const asRead = (intent: Intent) => (reader.kind === 'operator' ? operatorResult(intent) : resultOf(intent, false));
    const intent = await visibleIntent(this.store, reader, intentId);
    const wait = preferredWait(request, reply);
    if (wait === 0 || hasOutcome(intent)) return answerState(reply, asRead(intent));
    const later = await this.store.outcomes.wait(intentId, wait * 1_000, { signal: untilClosed(reply), known: intent });
    return answerState(reply, asRead(later ?? intent));
  }

  @Get('events')
  @ApiOperation({ summary: 'Everything that happened to an intent, in order' })
  @ApiOkResponse({ description: 'The events.', schema: eventList })
  @Problems('unauthenticated', 'forbidden', 'not_found', 'unavailable')
  async events(@Req() request: FastifyRequest, @Param('intentId') intentId: string): Promise<{ events: object[] }> {
    const reader = await this.authentication.agentOrOperator(request, 'viewer');
    await visibleIntent(this.store, reader, intentId);
    const events = timeline(await this.store.intents.history(intentId));
    return { events: reader.kind === 'agent' ? events.map(withoutInjected) : events };
  }

  @Post('cancel')
  @HttpCode(200)
  @ApiOperation({ summary: 'Cancel an intent that was not sent yet' })
  @Results('It is cancelled, or was settled before.')
  @Problems('unauthenticated', 'forbidden', 'not_found', 'conflict', 'unavailable')
  async cancel(@Req() request: FastifyRequest, @Param('intentId') intentId: string): Promise<IntentResult> {
    const reader = await this.authentication.agentOrOperator(request, 'operator');
    await visibleIntent(this.store, reader, intentId);
    const by = reader.kind === 'agent' ? reader.session.user : reader.operator.name;
    const result = await this.store.door.execute({ intentId, command: { type: 'cancel', by } });
    return resultOf(intentAfter(result), false);
  }
}

/** A caller that hangs up ends its waiting, and nothing else. */
function untilClosed(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  return gone.signal;
}
