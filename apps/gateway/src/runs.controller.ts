import { Bus } from '@intendant/bus';
import { type OpenedRun, Refusal, runIdPattern, subjects } from '@intendant/contracts';
import { type Run, Store } from '@intendant/store';
import { Body, Controller, HttpCode, Param, Post, Req } from '@nestjs/common';
import {
  ApiBody,
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { ask } from './ask.js';
import { Authentication } from './authentication.js';
import { OpenRun } from './open-run.js';
import { ForServices, Problems } from './openapi-decorators.js';
import { enteredPhase, openedRun } from './openapi-schemas.js';
import { PhaseRequest } from './phase-request.js';
import { readMessage } from './read-message.js';

/** Where thousands are asked for at once, each waits for its turn. */
const openingMs = 25_000;

/** Runs: who acts, on whose behalf, with which authority. For trusted agent runtimes. */
@ApiTags('runs')
@ForServices()
@Controller('v1/runs')
export class RunsController {
  constructor(
    private readonly authentication: Authentication,
    private readonly store: Store,
    private readonly bus: Bus,
  ) {}

  @Post()
  @ApiOperation({
    summary: 'Open a run and get the token its agent uses',
    description:
      'What is asked for beyond the ceiling of the service key is refused with `invalid_arguments`, and no run is opened.',
  })
  @ApiBody({ type: OpenRun })
  @ApiCreatedResponse({ description: 'The run is open.', schema: openedRun })
  @Problems('invalid_message', 'invalid_arguments', 'unauthenticated', 'forbidden', 'unavailable')
  async open(@Req() request: FastifyRequest, @Body() body: unknown): Promise<OpenedRun> {
    this.authentication.runtime(request);
    const payload = JSON.stringify(await readMessage(OpenRun, body));
    const headers = { Authorization: request.headers.authorization ?? '' };
    return ask(this.bus, subjects.rpcOpenRun, { payload, headers, timeoutMs: openingMs });
  }

  @Post(':runId/phase')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Let a run enter another phase',
    description: 'From the next decision on. What was admitted before is not touched.',
  })
  @ApiBody({ type: PhaseRequest })
  @ApiOkResponse({ description: 'The run is in that phase.', schema: enteredPhase })
  @Problems('invalid_message', 'unauthenticated', 'forbidden', 'not_found', 'conflict', 'unavailable')
  async enterPhase(
    @Req() request: FastifyRequest,
    @Param('runId') runId: string,
    @Body() body: unknown,
  ): Promise<{ runId: string; phase: string | null }> {
    const { tenant } = this.authentication.runtime(request);
    const { phase } = await readMessage(PhaseRequest, body);
    const entered = runIdPattern.test(runId) ? await this.store.runs.enter(runId, tenant, phase) : null;
    if (entered !== null) return { runId, phase: entered.phase };
    const run = runIdPattern.test(runId) ? await this.store.runs.find(runId) : null;
    if (run?.tenant !== tenant) throw new Refusal('not_found', 'There is no such run.');
    throw new Refusal('conflict', `${over(run)}; it enters no phase any more. Open a new run.`);
  }

  @Post(':runId/close')
  @HttpCode(204)
  @ApiOperation({ summary: 'Close a run: nothing more is admitted under its token' })
  @ApiNoContentResponse({ description: 'The run is closed; closing it again changes nothing.' })
  @Problems('unauthenticated', 'forbidden', 'not_found', 'unavailable')
  async close(@Req() request: FastifyRequest, @Param('runId') runId: string): Promise<void> {
    const { tenant } = this.authentication.runtime(request);
    const closed = runIdPattern.test(runId) && (await this.store.runs.close(runId, tenant));
    if (!closed) throw new Refusal('not_found', 'There is no such run.');
  }
}

function over({ closed, expiresAt }: Run): string {
  return closed ? 'This run is closed' : `This run has expired at ${new Date(expiresAt).toISOString()}`;
}
