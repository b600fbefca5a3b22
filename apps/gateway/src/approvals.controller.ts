import { type ErrorObject, type IntentResult, Refusal } from '@intendant/contracts';
import { Store } from '@intendant/store';
import { Body, Controller, Get, HttpCode, Param, Post, Query, Req } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { type ApprovalCard, type ApprovalListing, approvalCard, approvalListing } from './approval-card.js';
import { ApprovalQuery, ApproveRequest, BatchRequest, decisionsOf, RefuseRequest } from './approval-requests.js';
import { approvalPage, approvalSchema, batchResults } from './approval-schemas.js';
import { Authentication } from './authentication.js';
import { type ApprovalDecision, decideApproval } from './decide-approval.js';
import { ApprovalFilters, ForOperators, Problems, Results } from './openapi-decorators.js';
import { limitOf } from './queries.js';
import { readMessage } from './read-message.js';
import { tenantToList, visibleIntent } from './tenants.js';

type Decided = { readonly id: string } & ({ readonly result: IntentResult } | { readonly error: ErrorObject });

/** What waits for people, and what they say. Who decides is told by the credential alone. */
@ApiTags('approvals')
@ForOperators()
@Controller('v1/approvals')
export class ApprovalsController {
  constructor(
    private readonly authentication: Authentication,
    private readonly store: Store,
  ) {}

  @Get()
  @ApiOperation({ summary: 'What waits for approval, the oldest first, by page' })
  @ApprovalFilters()
  @ApiOkResponse({ description: 'One page; `nextCursor` is null on the last one.', schema: approvalPage })
  @Problems('invalid_message', 'unauthenticated', 'forbidden', 'unavailable')
  async list(
    @Req() request: FastifyRequest,
    @Query() query: unknown,
  ): Promise<{ items: ApprovalListing[]; nextCursor: string | null }> {
    const operator = this.authentication.operator(request, 'viewer');
    const message = await readMessage(ApprovalQuery, query);
    const limit = limitOf(message);
    const tenant = tenantToList(operator, message.tenant);
    const { tool, cursor: after } = message;
    const found = await this.store.intents.awaiting({ tenant, tool, after, limit: limit + 1 });
    const items = found.slice(0, limit).map(approvalListing);
    return { items, nextCursor: found.length > limit ? (items.at(-1)?.id ?? null) : null };
  }

  @Get(':id')
  @ApiOperation({ summary: 'Everything that is needed to decide about one' })
  @ApiOkResponse({ description: 'The card, whether it still waits or not.', schema: approvalSchema })
  @Problems('unauthenticated', 'forbidden', 'not_found', 'unavailable')
  async show(@Req() request: FastifyRequest, @Param('id') id: string): Promise<ApprovalCard> {
    const operator = this.authentication.operator(request, 'viewer');
    const intent = await visibleIntent(this.store, { kind: 'operator', operator }, id);
    if (intent.approvals === null) throw new Refusal('not_found', `Nobody was asked about intent ${id}.`);
    return approvalCard(this.store, operator, intent);
  }

  @Post('decide')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Decide about many at once',
    description: 'Each is bound to its own digest and decided by itself; what fails does not touch the others.',
  })
  @ApiBody({ type: BatchRequest })
  @ApiOkResponse({ description: 'What became of each.', schema: batchResults })
  @Problems('invalid_message', 'invalid_arguments', 'unauthenticated', 'forbidden', 'unavailable')
  async decideMany(@Req() request: FastifyRequest, @Body() body: unknown): Promise<{ results: Decided[] }> {
    const operator = this.authentication.operator(request, 'approver');
    const decisions = decisionsOf(await readMessage(BatchRequest, body));
    const results = decisions.map(async (decision): Promise<Decided> => {
      const { id } = decision;
      try {
        return { id, result: await decideApproval(this.store, operator, decision) };
      } catch (error) {
        if (error instanceof Refusal) return { id, error: error.error };
        throw error;
      }
    });
    return { results: await Promise.all(results) };
  }

  @Post(':id/approve')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Agree to exactly what was shown',
    description: 'Agreeing twice changes nothing; whoever comes second reads the same.',
  })
  @ApiBody({ type: ApproveRequest })
  @Results('It is agreed to. It may still wait for others.')
  @Problems('invalid_message', 'unauthenticated', 'forbidden', 'not_found', 'conflict', 'unavailable')
  async approve(@Req() request: FastifyRequest, @Param('id') id: string, @Body() body: unknown): Promise<IntentResult> {
    return this.decide(request, async () => {
      const { digest } = await readMessage(ApproveRequest, body);
      return { decision: 'approve', id, digest };
    });
  }

  @Post(':id/refuse')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Say no',
    description:
      'Possible until it is sent, whoever has agreed before. It is remembered: the same in other words is denied without asking.',
  })
  @ApiBody({ type: RefuseRequest })
  @Results('It is refused, and will not be sent.')
  @Problems('invalid_message', 'unauthenticated', 'forbidden', 'not_found', 'conflict', 'unavailable')
  async refuse(@Req() request: FastifyRequest, @Param('id') id: string, @Body() body: unknown): Promise<IntentResult> {
    return this.decide(request, async () => {
      const { reason, digest = null } = await readMessage(RefuseRequest, body);
      return { decision: 'refuse', id, digest, reason };
    });
  }

  @Post(':id/withdraw')
  @HttpCode(200)
  @ApiOperation({ summary: 'Take back what one has agreed to, as long as it was not sent' })
  @Results('It counts as not given.')
  @Problems('unauthenticated', 'forbidden', 'not_found', 'conflict', 'unavailable')
  async withdraw(@Req() request: FastifyRequest, @Param('id') id: string): Promise<IntentResult> {
    return this.decide(request, async () => ({ decision: 'withdraw', id }));
  }

  /** Who asks comes before what is asked. */
  private async decide(request: FastifyRequest, read: () => Promise<ApprovalDecision>): Promise<IntentResult> {
    const operator = this.authentication.operator(request, 'approver');
    return decideApproval(this.store, operator, await read());
  }
}
