import { type IntentResult, resultOf } from '@intendant/contracts';
import type { Intent } from '@intendant/intent';
import { monotonic } from '@intendant/runtime';
import { hasOutcome, Store } from '@intendant/store';
import { Controller, Get, Param, Post, Req, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Authentication, type Reader } from './authentication.js';
import { intentAfter } from './command-answer.js';
import { EventStreams, lastEventId, wantsStream } from './event-streams.js';
import { IntentFeed, isFinal } from './feeds.js';
import { asAgentsSeeIt, timeline } from './history.js';
import { requireVersion } from './known-place.js';
import { EventStream, ForAgentsAndOperators, Problems, Results, Unchanged, WaitHeader } from './openapi-decorators.js';
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
    private readonly streams: EventStreams,
  ) {}

  @Get()
  @ApiOperation({ summary: 'How an intent stands, or its outcome after waiting for it' })
  @WaitHeader()
  @Unchanged()
  @Results('Settled.', 'The outcome is not known yet.')
  @Problems('unauthenticated', 'forbidden', 'not_found', 'unavailable')
  async read(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Param('intentId') intentId: string,
  ): Promise<IntentResult | OperatorResult | undefined> {
    const reader = await this.authentication.agentOrOperator(request, 'viewer');
    const wait = preferredWait(request, reply);
    const intent = await visibleIntent(this.store, reader, intentId);
    const known = request.headers['if-none-match'];
    if (known === undefined) return this.outcome(reply, wait, intent, reader);
    const isKnown = (it: Intent) => matches(known, tagOf(it, reader));
    const other = isKnown(intent) ? await this.otherThan(intent, wait, untilClosed(reply)) : intent;
    if (isKnown(other)) return void reply.status(304).header('ETag', tagOf(other, reader));
    return this.outcome(reply, 0, other, reader);
  }

  @Get('events')
  @ApiOperation({ summary: 'Everything that happened to an intent, in order' })
  @EventStream('The version of the event.', eventList)
  @Problems('invalid_message', 'unauthenticated', 'forbidden', 'not_found', 'rate_limited', 'unavailable')
  async events(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Param('intentId') intentId: string,
  ): Promise<{ events: object[] } | undefined> {
    const reader = await this.authentication.agentOrOperator(request, 'viewer');
    const intent = await visibleIntent(this.store, reader, intentId);
    if (wantsStream(request)) {
      requireVersion(intent, lastEventId(request));
      const feed = new IntentFeed(this.store, intentId, reader, lastEventId(request));
      return void (await this.streams.serve(reply, feed, reader));
    }
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

  /** The intent once anything has happened to it, or as it stands when the wait, in seconds, is over or in vain. */
  private async otherThan(intent: Intent, wait: number, signal: AbortSignal): Promise<Intent> {
    const { intentId } = intent.proposal;
    if (wait > 0 && (await isFinal(this.store, intent))) return intent;
    const deadline = monotonic() + wait * 1_000;
    let now = intent;
    while (now.version === intent.version && !signal.aborted) {
      const left = deadline - monotonic();
      if (left <= 0) break;
      await this.store.changes.wait('intent', intentId, intent.version, left, signal);
      now = (await this.store.intents.load(intentId)) ?? now;
    }
    return now;
  }

  /** The outcome, as far as it is known when the caller's wait, in seconds, is over. */
  private async outcome(
    reply: FastifyReply,
    wait: number,
    intent: Intent,
    reader: Reader,
  ): Promise<IntentResult | OperatorResult> {
    const asRead = (it: Intent) => {
      reply.header('ETag', tagOf(it, reader));
      return reader.kind === 'operator' ? operatorResult(it) : resultOf(it, false);
    };
    if (wait === 0 || hasOutcome(intent)) return answerState(reply, asRead(intent));
    const { intentId } = intent.proposal;
    const later = await this.store.outcomes.wait(intentId, wait * 1_000, { signal: untilClosed(reply), known: intent });
    return answerState(reply, asRead(later ?? intent));
  }
}

/** Operators read more of the same version than agents. */
function tagOf({ version }: Intent, { kind }: Reader): string {
  return `"${version}.${kind}"`;
}

/** `If-None-Match` (RFC 9110) names what would be answered. */
function matches(header: string, tag: string): boolean {
  const tags = header.split(',').map((each) => each.trim().replace(/^W\//, ''));
  return tags.includes('*') || tags.includes(tag);
}

/** A caller that hangs up ends its waiting, and nothing else. */
function untilClosed(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  return gone.signal;
}
