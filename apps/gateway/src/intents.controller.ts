import { type IntentResult, resultOf } from '@intendant/contracts';
import type { Intent } from '@intendant/intent';
import { hasOutcome, Store } from '@intendant/store';
import { Controller, Get, Param, Post, Req, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Authentication, type Reader } from './authentication.js';
import { intentAfter } from './command-answer.js';
import { asAgentsSeeIt, timeline } from './history.js';
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
    const wait = preferredWait(request, reply);
    return this.outcome(reply, wait, await visibleIntent(this.store, reader, intentId), reader);
  }

  @Get('events')
  @ApiOperation({ summary: 'Everything that happened to an intent, in order' })
  @ApiOkResponse({ description: 'The events.', schema: eventList })
  @Problems('unauthenticated', 'forbidden', 'not_found', 'unavailable')
  async events(@Req() request: FastifyRequest, @Param('intentId') intentId: string): Promise<{ events: object[] }> {
    const reader = await this.authentication.agentOrOperator(request, 'viewer');
    await visibleIntent(this.store, reader, intentId);
    const events = timeline(await this.store.intents.history(intentId));
    return { events: reader.kind === 'agent' ? events.map(asAgentsSeeIt) : events };
  }

  @Post('cancel')
  @ApiOperation({
    summary: 'Cancel an intent',
    description:
      'What was not sent yet is cancelled. What may have been sent is aborted and not sent again, and ends in what really happened; wait for that with `Prefer: wait`.',
  })
  @WaitHeader()
  @Results('It is cancelled, or settled.', 'It is being aborted; what really happened is not known yet.')
  @Problems('unauthenticated', 'forbidden', 'not_found', 'conflict', 'unavailable')
  async cancel(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Param('intentId') intentId: string,
  ): Promise<IntentResult | OperatorResult> {
    const reader = await this.authentication.agentOrOperator(request, 'operator');
    await visibleIntent(this.store, reader, intentId);
    const wait = preferredWait(request, reply);
    const by = reader.kind === 'agent' ? reader.session.user : reader.operator.name;
    const result = await this.store.door.execute({ intentId, command: { type: 'cancel', by } });
    return this.outcome(reply, wait, intentAfter(result), reader);
  }

  /** The outcome, as far as it is known when the caller's wait, in seconds, is over. */
  private async outcome(
    reply: FastifyReply,
    wait: number,
    intent: Intent,
    reader: Reader,
  ): Promise<IntentResult | OperatorResult> {
    const asRead = (it: Intent) => (reader.kind === 'operator' ? operatorResult(it) : resultOf(it, false));
    if (wait === 0 || hasOutcome(intent)) return answerState(reply, asRead(intent));
    const { intentId } = intent.proposal;
    const later = await this.store.outcomes.wait(intentId, wait * 1_000, { signal: untilClosed(reply), known: intent });
    return answerState(reply, asRead(later ?? intent));
  }
}

/** A caller that hangs up ends its waiting, and nothing else. */
function untilClosed(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  return gone.signal;
}
