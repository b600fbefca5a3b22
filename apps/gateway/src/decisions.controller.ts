import type { DecisionPage } from '@intendant/contracts';
import { Store } from '@intendant/store';
import { Controller, Get, Query, Req } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { Authentication } from './authentication.js';
import { decisionPage } from './decision-schemas.js';
import { DecisionFilters, ForOperators, Problems } from './openapi-decorators.js';
import { DecisionQuery, limitOf } from './queries.js';
import { readMessage } from './read-message.js';
import { parseSince } from './since.js';
import { tenantToList } from './tenants.js';

/** What was decided, and by what. */
@ApiTags('operators')
@ForOperators()
@Controller('v1/decisions')
export class DecisionsController {
  constructor(
    private readonly authentication: Authentication,
    private readonly store: Store,
  ) {}

  @Get()
  @ApiOperation({
    summary: 'Decisions of admission, oldest first, by page',
    description: 'Each with everything that a rule looks at, as it was when it was decided.',
  })
  @DecisionFilters()
  @ApiOkResponse({ description: 'One page; `nextCursor` is null on the last one.', schema: decisionPage })
  @Problems('invalid_message', 'unauthenticated', 'forbidden', 'unavailable')
  async list(@Req() request: FastifyRequest, @Query() query: unknown): Promise<DecisionPage> {
    const operator = this.authentication.operator(request, 'viewer');
    const message = await readMessage(DecisionQuery, query);
    const { tool, cursor: after } = message;
    // The validator has let nothing else through.
    const since = parseSince(message.since) ?? { forMs: 0 };
    const tenant = tenantToList(operator, message.tenant);
    return this.store.decisions.list({ since, tenant, tool, after, limit: limitOf(message) });
  }
}
