import { Bus } from '@intendant/bus';
import { type Grant, intentIdPattern, Refusal, subjects } from '@intendant/contracts';
import type { OperatorIdentity } from '@intendant/credentials';
import { Store } from '@intendant/store';
import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query, Req } from '@nestjs/common';
import { ApiBody, ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { ask } from './ask.js';
import { Authentication } from './authentication.js';
import { GrantQuery, GrantRequest } from './grant-request.js';
import { ForOperators, PageFilters, Problems } from './openapi-decorators.js';
import { grant, grantPage } from './openapi-schemas.js';
import { limitOf } from './queries.js';
import { readMessage } from './read-message.js';
import { serves, tenantToList } from './tenants.js';

const answerMs = 12_000;

/** What people have agreed to in advance. */
@ApiTags('grants')
@ForOperators()
@Controller('v1/grants')
export class GrantsController {
  constructor(
    private readonly authentication: Authentication,
    private readonly store: Store,
    private readonly bus: Bus,
  ) {}

  @Get()
  @ApiOperation({ summary: 'Grants in force, newest first, by page' })
  @ApiQuery({ name: 'tenant', required: false })
  @ApiQuery({ name: 'tool', required: false, example: 'payments.refund.create' })
  @ApiQuery({ name: 'all', required: false, enum: ['true', 'false'], description: 'Those that are over, too.' })
  @PageFilters()
  @ApiOkResponse({ description: 'One page; `nextCursor` is null on the last one.', schema: grantPage })
  @Problems('invalid_message', 'unauthenticated', 'forbidden', 'unavailable')
  async list(
    @Req() request: FastifyRequest,
    @Query() query: unknown,
  ): Promise<{ items: Grant[]; nextCursor: string | null }> {
    const operator = this.authentication.operator(request, 'viewer');
    const message = await readMessage(GrantQuery, query);
    const { tool, all, cursor: before } = message;
    const tenant = tenantToList(operator, message.tenant);
    const limit = limitOf(message);
    const found = await this.store.grants.list({ tenant, tool, all: all === 'true', before, limit: limit + 1 });
    const items = found.slice(0, limit);
    return { items, nextCursor: found.length > limit ? (items.at(-1)?.id ?? null) : null };
  }

  @Get(':grantId')
  @ApiOperation({ summary: 'One grant: what it allows, and what was taken of it' })
  @ApiOkResponse({ description: 'The grant, in force or not.', schema: grant })
  @Problems('unauthenticated', 'forbidden', 'not_found', 'unavailable')
  async show(@Req() request: FastifyRequest, @Param('grantId') grantId: string): Promise<Grant> {
    return this.visible(this.authentication.operator(request, 'viewer'), grantId);
  }

  @Post()
  @ApiOperation({
    summary: 'Agree in advance to calls of one tool',
    description:
      'They are made without asking anybody as long as the grant has room and stands. Only for what one person may agree to, and only by somebody who may.',
  })
  @ApiBody({ type: GrantRequest })
  @ApiCreatedResponse({ description: 'It is in force.', schema: grant })
  @Problems(
    'invalid_message',
    'invalid_arguments',
    'unauthenticated',
    'forbidden',
    'unknown_tool',
    'conflict',
    'unavailable',
  )
  async give(@Req() request: FastifyRequest, @Body() body: unknown): Promise<Grant> {
    this.authentication.operator(request, 'approver');
    const payload = JSON.stringify(await readMessage(GrantRequest, body));
    const headers = { Authorization: request.headers.authorization ?? '' };
    return ask(this.bus, subjects.rpcGiveGrant, { payload, headers, timeoutMs: answerMs });
  }

  @Delete(':grantId')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Revoke a grant, at once',
    description:
      'Whatever goes by it and was not sent yet waits for a person. Revoking one that is over or revoked changes nothing.',
  })
  @ApiOkResponse({ description: 'The grant as it is now.', schema: grant })
  @Problems('unauthenticated', 'forbidden', 'not_found', 'unavailable')
  async revoke(@Req() request: FastifyRequest, @Param('grantId') grantId: string): Promise<Grant> {
    const operator = this.authentication.operator(request, 'approver');
    const { id } = await this.visible(operator, grantId);
    await this.store.grants.revoke(id, operator.name);
    return this.visible(operator, id);
  }

  private async visible(operator: OperatorIdentity, id: string): Promise<Grant> {
    const found = intentIdPattern.test(id) ? await this.store.grants.find(id) : null;
    if (found && serves(operator, found.tenant)) return found;
    throw new Refusal('not_found', 'There is no such grant.');
  }
}
