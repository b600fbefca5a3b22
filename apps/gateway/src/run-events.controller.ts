import { Store } from '@intendant/store';
import { Controller, Get, Param, Query, Req, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Authentication } from './authentication.js';
import { EventStreams, lastEventId, wantsStream } from './event-streams.js';
import { RunFeed } from './feeds.js';
import { requirePlace } from './known-place.js';
import { EventStream, ForAgentsAndOperators, PageFilters, Problems } from './openapi-decorators.js';
import { runEventPage } from './openapi-schemas.js';
import { limitOf, RunEventsQuery } from './queries.js';
import { readMessage } from './read-message.js';
import { visibleRun } from './tenants.js';

/** What happens in a run, for its agent and for the operators of its tenant. */
@ApiTags('runs')
@ForAgentsAndOperators()
@Controller('v1/runs/:runId/events')
export class RunEventsController {
  constructor(
    private readonly authentication: Authentication,
    private readonly store: Store,
    private readonly streams: EventStreams,
  ) {}

  @Get()
  @ApiOperation({
    summary: 'Everything that happened in a run',
    description: 'In one order that never changes; the events of each intent are in their own order.',
  })
  @PageFilters()
  @EventStream('where to go on after it.', runEventPage)
  @Problems('invalid_message', 'unauthenticated', 'forbidden', 'not_found', 'rate_limited', 'unavailable')
  async events(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Param('runId') runId: string,
    @Query() query: unknown,
  ): Promise<{ events: object[]; nextCursor: string | null } | undefined> {
    const reader = await this.authentication.agentOrOperator(request, 'viewer');
    const page = await readMessage(RunEventsQuery, query);
    await visibleRun(this.store, reader, runId);
    const after = lastEventId(request) ?? page.cursor;
    await requirePlace(this.store, runId, after);
    const feed = new RunFeed(this.store, runId, reader, after);
    if (wantsStream(request)) return void (await this.streams.serve(reply, feed, reader));
    const events: object[] = [];
    let nextCursor = page.cursor ?? null;
    for await (const { id, data } of feed.entries(limitOf(page))) {
      events.push(data);
      nextCursor = id;
    }
    return { events, nextCursor };
  }
}
