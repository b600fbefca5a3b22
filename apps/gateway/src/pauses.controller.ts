import { setTimeout as wait } from 'node:timers/promises';
import { Bus } from '@intendant/bus';
import { intentIdPattern, type Pause, parseDuration, pausesKnownMs, Refusal, subjects } from '@intendant/contracts';
import { Store, StoreUnavailable } from '@intendant/store';
import { Body, Controller, Delete, Get, HttpCode, Param, Put, Req } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { ask } from './ask.js';
import { Authentication } from './authentication.js';
import { ForOperators, Problems } from './openapi-decorators.js';
import { begunPause, pause, pauseList } from './openapi-schemas.js';
import { PauseRequest } from './pause-request.js';
import { readMessage } from './read-message.js';
import { tenantToList } from './tenants.js';

/** Two statements, each with the time that a busy database may take, and the second in between. */
const answerMs = pausesKnownMs + 24_000;

/** What is not to begin for now. What is under way goes on. */
@ApiTags('pauses')
@ForOperators()
@Controller('v1/pauses')
export class PausesController {
  constructor(
    private readonly authentication: Authentication,
    private readonly store: Store,
    private readonly bus: Bus,
  ) {}

  @Get()
  @ApiOperation({ summary: 'Pauses in force, the oldest first' })
  @ApiOkResponse({ description: 'All that concern the tenant of the operator.', schema: pauseList })
  @Problems('unauthenticated', 'forbidden', 'unavailable')
  async list(@Req() request: FastifyRequest): Promise<{ items: Pause[] }> {
    const operator = this.authentication.operator(request, 'viewer');
    return { items: await this.store.pauses.list(tenantToList(operator, undefined)) };
  }

  @Put()
  @ApiOperation({
    summary: 'Pause a tenant, a tool, a namespace, an upstream, or everything',
    description:
      'New submits are refused with `paused`; what is admitted and not sent yet waits. Answered when every service has read of it. What is under way is not touched: `underWay` says how much that is. The same scope again changes reason and end.',
  })
  @ApiBody({ type: PauseRequest })
  @ApiOkResponse({ description: 'It is paused.', schema: begunPause })
  @Problems('invalid_message', 'invalid_arguments', 'unauthenticated', 'forbidden', 'unavailable')
  async begin(@Req() request: FastifyRequest, @Body() body: unknown): Promise<unknown> {
    this.authentication.operator(request, 'operator');
    const { for: time, tenant, tool, namespace, upstream, reason } = await readMessage(PauseRequest, body);
    const forMs = time == null ? null : parseDuration(time);
    const given = Object.entries({ tenant, tool, namespace, upstream, reason, forMs: forMs?.toString() });
    const payload = JSON.stringify(Object.fromEntries(given.filter(([, value]) => value != null)));
    const headers = { Authorization: request.headers.authorization ?? '' };
    return ask(this.bus, subjects.rpcPause, { payload, headers, timeoutMs: answerMs });
  }

  @Delete(':pauseId')
  @HttpCode(200)
  @ApiOperation({
    summary: 'End a pause; what has waited for it goes on',
    description: 'Answered when every service has read of it.',
  })
  @ApiOkResponse({ description: 'The pause that was ended.', schema: pause })
  @Problems('unauthenticated', 'forbidden', 'not_found', 'unavailable')
  async end(@Req() request: FastifyRequest, @Param('pauseId') pauseId: string): Promise<Pause> {
    const { name, tenant } = this.authentication.operator(request, 'operator');
    const own = tenant === '*' ? null : tenant;
    const ended = intentIdPattern.test(pauseId) ? await this.store.pauses.end(pauseId, name, own) : null;
    if (ended === null) throw new Refusal('not_found', 'There is no such pause in force that you could end.');
    // Whoever is woken earlier may still go by what it has read before, and would wait once more.
    await wait(pausesKnownMs);
    // It is over whether this succeeds or not.
    await this.store.pauses.wake(ended).catch((error: unknown) => {
      if (!(error instanceof StoreUnavailable)) throw error;
    });
    return ended;
  }
}
