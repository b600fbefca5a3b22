import type { ResultPage } from '@intendant/contracts';
import { Store } from '@intendant/store';
import { Controller, Get, Param, Query, Req } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { Authentication } from './authentication.js';
import { ForAgentsAndOperators, Problems } from './openapi-decorators.js';
import { resultPage } from './openapi-schemas.js';
import { ResultQuery } from './queries.js';
import { readMessage } from './read-message.js';
import { readPage } from './read-page.js';

/** NaN: it is none, and refused as such. */
function wholeNumber(text: string): number {
  return /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
}

/** Data that is too large to be shown in a result, for those who may see the result. */
@ApiTags('intents')
@ForAgentsAndOperators()
@Controller('v1/results/:handle')
export class ResultsController {
  constructor(
    private readonly authentication: Authentication,
    private readonly store: Store,
  ) {}

  @Get()
  @ApiOperation({
    summary: 'A page of the data behind a handle',
    description: 'Lists come by items, objects by members, texts by characters, as much as a result may show at once.',
  })
  @ApiQuery({
    name: 'pointer',
    required: false,
    description:
      'JSON Pointer (RFC 6901) into the data. Left out: the list that the tool declares, or all of the data.',
    example: '/items/0',
  })
  @ApiQuery({ name: 'cursor', required: false, description: '`nextCursor` of the page before.' })
  @ApiQuery({
    name: 'limit',
    required: false,
    description: 'Items or members at most; 20 without it, and up to 100, where the tool does not say otherwise.',
  })
  @ApiOkResponse({ description: 'The page.', schema: resultPage })
  @Problems('invalid_message', 'invalid_arguments', 'unauthenticated', 'forbidden', 'not_found', 'unavailable')
  async read(
    @Req() request: FastifyRequest,
    @Param('handle') handle: string,
    @Query() query: unknown,
  ): Promise<ResultPage> {
    const reader = await this.authentication.agentOrOperator(request, 'viewer');
    const { pointer, cursor, limit } = await readMessage(ResultQuery, query);
    return readPage(this.store, reader, handle, {
      ...{ pointer, cursor },
      limit: limit === undefined ? undefined : wholeNumber(limit),
    });
  }
}
