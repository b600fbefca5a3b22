import { Refusal, runIdPattern } from '@intendant/contracts';
import { newId } from '@intendant/runtime';
import { Store } from '@intendant/store';
import { Body, Controller, HttpCode, Param, Post, Req } from '@nestjs/common';
import { ApiBody, ApiCreatedResponse, ApiNoContentResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { Authentication } from './authentication.js';
import { OpenRun, ttlOf } from './open-run.js';
import { ForServices, Problems } from './openapi-decorators.js';
import { openedRun } from './openapi-schemas.js';
import { readMessage } from './read-message.js';

interface OpenedRun {
  readonly runId: string;
  readonly token: string;
  readonly expiresAt: string;
}

/** Runs: who acts, on whose behalf, with which authority. For trusted agent runtimes. */
@ApiTags('runs')
@ForServices()
@Controller('v1/runs')
export class RunsController {
  constructor(
    private readonly authentication: Authentication,
    private readonly store: Store,
  ) {}

  @Post()
  @ApiOperation({ summary: 'Open a run and get the token its agent uses' })
  @ApiBody({ type: OpenRun })
  @ApiCreatedResponse({ description: 'The run is open.', schema: openedRun })
  @Problems('invalid_message', 'invalid_arguments', 'unauthenticated', 'forbidden', 'unavailable')
  async open(@Req() request: FastifyRequest, @Body() body: unknown): Promise<OpenedRun> {
    const service = this.authentication.runtime(request);
    const message = await readMessage(OpenRun, body);
    if (message.budgets != null) {
      throw new Refusal('invalid_arguments', 'Budgets are not supported yet; leave budgets out.', {
        problems: [{ pointer: '/budgets', expected: 'nothing: not supported yet' }],
      });
    }
    const { user, permissions, profile, phase = null, sandbox } = message;
    const { tenant, name } = service;
    const run = await this.store.runs.open(
      { id: `run_${newId()}`, tenant, user, profile, permissions, phase, openedBy: name },
      ttlOf(message),
    );
    const session = { tenant, runId: run.id, user, permissions, phase, profile, expiresAt: run.expiresAt };
    const token = await this.authentication.issue(sandbox ? { ...session, sandbox } : session);
    return { runId: run.id, token, expiresAt: new Date(run.expiresAt).toISOString() };
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
