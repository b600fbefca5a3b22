import { Bus } from '@intendant/bus';
import { type IntentResult, intentIdPattern, Refusal, resultOf, subjects } from '@intendant/contracts';
import type { OperatorIdentity } from '@intendant/credentials';
import type { Intent } from '@intendant/intent';
import { wallClock } from '@intendant/runtime';
import { type DeadMessage, Store, type WholeDeadMessage } from '@intendant/store';
import { Body, Controller, Get, HttpCode, Param, Post, Query, Req } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { ask } from './ask.js';
import { Authentication } from './authentication.js';
import { intentAfter } from './command-answer.js';
import { actionsOn, actionsOnMessage, type DeadLetterPage, listDeadLetters, listing } from './dead-letters.js';
import { DismissRequest } from './dismiss-request.js';
import { timeline } from './history.js';
import { ForOperators, PageFilters, Problems } from './openapi-decorators.js';
import { deadLetter, deadLetterPage, dismissed, replayResults } from './openapi-schemas.js';
import { previewOf } from './payload-preview.js';
import { limitOf, PageQuery } from './queries.js';
import { readMessage } from './read-message.js';
import { onlyId, ReplayRequest } from './replay-request.js';
import { serves } from './tenants.js';

const replayMs = 10_000;

type DeadLetter = { readonly intent: Intent } | { readonly message: WholeDeadMessage };

/** What waits for a person: intents that nothing could find out about, and messages that could not be admitted. */
@ApiTags('dead letters')
@ForOperators()
@Controller('v1/dead-letters')
export class DeadLettersController {
  constructor(
    private readonly authentication: Authentication,
    private readonly store: Store,
    private readonly bus: Bus,
  ) {}

  @Get()
  @ApiOperation({ summary: 'Dead letters, newest first, by page' })
  @PageFilters()
  @ApiOkResponse({ description: 'One page over both kinds.', schema: deadLetterPage })
  @Problems('invalid_message', 'unauthenticated', 'forbidden', 'unavailable')
  async list(@Req() request: FastifyRequest, @Query() query: unknown): Promise<DeadLetterPage> {
    const operator = this.authentication.operator(request, 'viewer');
    const page = await readMessage(PageQuery, query);
    return listDeadLetters(this.store, operator, limitOf(page), page.cursor);
  }

  @Get(':id')
  @ApiOperation({ summary: 'One dead letter: what happened, what is known, what can be done' })
  @ApiOkResponse({ description: 'An intent or a message.', schema: deadLetter })
  @Problems('unauthenticated', 'forbidden', 'not_found', 'unavailable')
  async show(@Req() request: FastifyRequest, @Param('id') id: string): Promise<object> {
    const operator = this.authentication.operator(request, 'viewer');
    const found = await this.find(operator, id);
    if ('message' in found) {
      const { message } = found;
      const { intentId, dismissal } = message;
      const payload = previewOf(message.payload);
      return { kind: 'message', ...listing(message), intentId, dismissal, payload, actions: actionsOnMessage(message) };
    }
    return {
      kind: 'intent',
      result: resultOf(found.intent, false),
      events: timeline(await this.store.intents.history(id)),
      actions: actionsOn(found.intent, operator.name, wallClock()),
    };
  }

  @Post('replay')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Take up a dead letter again',
    description:
      'An intent is reconciled first and sent again only where that cannot double its effect; a message is admitted again on behalf of its sender.',
  })
  @ApiBody({ type: ReplayRequest })
  @ApiOkResponse({ description: 'What became of it.', schema: replayResults })
  @Problems(
    'invalid_message',
    'invalid_arguments',
    'unauthenticated',
    'forbidden',
    'not_found',
    'conflict',
    'unavailable',
  )
  async replay(@Req() request: FastifyRequest, @Body() body: unknown): Promise<{ results: object[] }> {
    const operator = this.authentication.operator(request, 'operator');
    const message = await readMessage(ReplayRequest, body);
    const id = onlyId(message);
    const found = await this.find(operator, id);
    const result =
      'intent' in found ? await this.replayIntent(operator, id, message.reason) : await this.readmit(request, id);
    return { results: [{ id, ...result }] };
  }

  @Post(':id/dismiss')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Close a message that could not be admitted',
    description: 'For messages only. The same message sent again is open again; dismissing twice changes nothing.',
  })
  @ApiBody({ type: DismissRequest })
  @ApiOkResponse({ description: 'It is dismissed, now or since before.', schema: dismissed })
  @Problems('invalid_message', 'unauthenticated', 'forbidden', 'not_found', 'conflict', 'unavailable')
  async dismiss(
    @Req() request: FastifyRequest,
    @Param('id') id: string,
    @Body() body: unknown,
  ): Promise<Pick<DeadMessage, 'id' | 'dismissal'>> {
    const operator = this.authentication.operator(request, 'operator');
    const { reason } = await readMessage(DismissRequest, body);
    const found = await this.find(operator, id);
    if ('intent' in found) {
      throw new Refusal('conflict', `${id} is an intent, not a message; resolve it with evidence instead.`);
    }
    await this.store.deadMessages.dismiss(id, operator.name, reason);
    const message = await this.store.deadMessages.find(id);
    if (message?.dismissal) return { id, dismissal: message.dismissal };
    throw new Refusal('conflict', `Message ${id} was replayed into intent ${message?.intentId}.`, {
      intentId: message?.intentId ?? null,
    });
  }

  private async replayIntent({ name }: OperatorIdentity, intentId: string, reason: string): Promise<IntentResult> {
    const command = { type: 'replay', by: name, reason } as const;
    return resultOf(intentAfter(await this.store.door.execute({ intentId, command })), false);
  }

  private readmit(request: FastifyRequest, id: string): Promise<IntentResult> {
    const headers = { Authorization: request.headers.authorization ?? '' };
    return ask(this.bus, subjects.rpcReplayMessage, { payload: JSON.stringify({ id }), headers, timeoutMs: replayMs });
  }

  private async find(operator: OperatorIdentity, id: string): Promise<DeadLetter> {
    if (intentIdPattern.test(id)) {
      const intent = await this.store.intents.load(id);
      if (intent && serves(operator, intent.proposal.tenant)) return { intent };
      const message = await this.store.deadMessages.find(id);
      if (message && serves(operator, message.tenant)) return { message };
    }
    throw new Refusal('not_found', 'There is no such dead letter.');
  }
}
