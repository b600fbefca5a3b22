import { Bus } from '@intendant/bus';
import { type IntentResult, parseDuration, resultOf, subjects } from '@intendant/contracts';
import { wallClock } from '@intendant/runtime';
import { type IntentListing, Store } from '@intendant/store';
import { Body, Controller, Get, HttpCode, Param, Post, Query, Req } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { ask } from './ask.js';
import { Authentication } from './authentication.js';
import { intentAfter } from './command-answer.js';
import { ForOperators, IntentFilters, Problems, Results } from './openapi-decorators.js';
import { intentPage, sweepCounts } from './openapi-schemas.js';
import { IntentQuery, limitOf } from './queries.js';
import { readMessage } from './read-message.js';
import { ResolveIntent, wasResolvedSo } from './resolve-intent.js';
import { tenantToList, visibleIntent } from './tenants.js';

/** One pass asks upstreams, so it takes as long as they do. */
const reconcileMs = 60_000;

/** What people do: look for intents, say what happened where nobody else can, run the sweepers now. */
@ApiTags('operators')
@ForOperators()
@Controller('v1')
export class OperatorController {
  constructor(
    private readonly authentication: Authentication,
    private readonly store: Store,
    private readonly bus: Bus,
  ) {}

  @Get('intents')
  @ApiOperation({ summary: 'Intents, newest first, by page' })
  @IntentFilters()
  @ApiOkResponse({ description: 'One page; `nextCursor` is null on the last one.', schema: intentPage })
  @Problems('invalid_message', 'unauthenticated', 'forbidden', 'unavailable')
  async list(
    @Req() request: FastifyRequest,
    @Query() query: unknown,
  ): Promise<{ items: IntentListing[]; nextCursor: string | null }> {
    const operator = this.authentication.operator(request, 'viewer');
    const message = await readMessage(IntentQuery, query);
    const { state, tool, runId, cursor } = message;
    const age = message.olderThan === undefined ? null : parseDuration(message.olderThan);
    const limit = limitOf(message);
    const found = await this.store.intents.list({
      ...{ state, tool, runId, before: cursor, tenant: tenantToList(operator, message.tenant) },
      sandbox: message.sandbox === undefined ? undefined : message.sandbox === 'true',
      olderThan: age === null ? undefined : wallClock() - age,
      limit: limit + 1,
    });
    const items = found.slice(0, limit);
    return { items, nextCursor: found.length > limit ? (items.at(-1)?.intentId ?? null) : null };
  }

  @Post('intents/:intentId/resolve')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Say what happened to an intent whose outcome only a person can find out',
    description: 'Saying the same again changes nothing.',
  })
  @ApiBody({ type: ResolveIntent })
  @Results('It is settled.')
  @Problems('invalid_message', 'unauthenticated', 'forbidden', 'not_found', 'conflict', 'unavailable')
  async resolve(
    @Req() request: FastifyRequest,
    @Param('intentId') intentId: string,
    @Body() body: unknown,
  ): Promise<IntentResult> {
    const operator = this.authentication.operator(request, 'operator');
    const message = await readMessage(ResolveIntent, body);
    const { outcome, externalId = null, evidence } = message;
    await visibleIntent(this.store, { kind: 'operator', operator }, intentId);
    const result = await this.store.door.execute({
      intentId,
      command: { type: 'resolve', by: operator.name, outcome, externalId, evidence },
    });
    if (result.kind === 'rejected' && result.reason === 'not_resolvable' && result.intent) {
      const history = await this.store.intents.history(intentId);
      if (wasResolvedSo(history, message)) return resultOf(result.intent, false);
    }
    return resultOf(intentAfter(result), false);
  }

  @Post('reconcile')
  @HttpCode(200)
  @ApiOperation({ summary: 'One pass of every sweeper' })
  @ApiOkResponse({ description: 'What each sweeper found and did.', schema: sweepCounts })
  @Problems('unauthenticated', 'forbidden', 'unavailable')
  async reconcile(@Req() request: FastifyRequest): Promise<unknown> {
    this.authentication.operator(request, 'operator');
    const headers = { Authorization: request.headers.authorization ?? '' };
    return ask(this.bus, subjects.rpcReconcile, { payload: '', headers, timeoutMs: reconcileMs });
  }
}
