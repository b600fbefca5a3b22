import { RunTokens } from '@intendant/credentials';
import { type DynamicModule, Inject, Module } from '@nestjs/common';
import { APP_FILTER, HttpAdapterHost } from '@nestjs/core';
import type { FastifyAdapter, NestFastifyApplication } from '@nestjs/platform-fastify';
import { ApprovalsController } from './approvals.controller.js';
import { Authentication } from './authentication.js';
import { parseBodies } from './body-parsers.js';
import type { GatewayConfig } from './config.js';
import { DeadLettersController } from './dead-letters.controller.js';
import { DecisionsController } from './decisions.controller.js';
import { earlyErrors } from './early-errors.js';
import { EventStreams } from './event-streams.js';
import { GrantsController } from './grants.controller.js';
import { HintsController } from './hints.controller.js';
import { IntentsController } from './intents.controller.js';
import { Hosts } from './mcp/hosts.js';
import { McpController } from './mcp/mcp.controller.js';
import { McpErrors } from './mcp/mcp-errors.js';
import { ResourceMetadataController } from './mcp/resource-metadata.controller.js';
import { serveDocuments } from './openapi.js';
import { OperatorController } from './operator.controller.js';
import { type Patience, usualPatience } from './patience.js';
import { PausesController } from './pauses.controller.js';
import { ProblemFilter } from './problem.filter.js';
import { ResultsController } from './results.controller.js';
import { RunEventsController } from './run-events.controller.js';
import { RunsController } from './runs.controller.js';
import { SlackController, slackClicks } from './slack.controller.js';
import { SubmitController } from './submit.controller.js';

/** Needs Store and Bus from the application around it. */
@Module({})
export class GatewayModule {
  constructor(@Inject(HttpAdapterHost) { httpAdapter }: HttpAdapterHost<FastifyAdapter>) {
    parseBodies(httpAdapter);
  }

  /** What the HTTP server needs so that its own errors look like all others. */
  static readonly serverOptions = earlyErrors;

  static forRoot(
    config: Pick<GatewayConfig, 'tokenSecret' | 'previousSecrets' | 'services' | 'operators' | 'slack' | 'publicUrl'>,
    patience: Patience = usualPatience,
  ): DynamicModule {
    return {
      module: GatewayModule,
      controllers: [
        ApprovalsController,
        RunsController,
        RunEventsController,
        SubmitController,
        IntentsController,
        ResultsController,
        DeadLettersController,
        DecisionsController,
        OperatorController,
        PausesController,
        GrantsController,
        HintsController,
        SlackController,
        McpController,
        ResourceMetadataController,
      ],
      providers: [
        {
          provide: Authentication,
          useFactory: () => {
            const tokens = new RunTokens(config.tokenSecret, config.previousSecrets);
            return new Authentication(config.services, tokens, config.operators);
          },
        },
        { provide: EventStreams, useFactory: () => new EventStreams(patience.readingMs) },
        { provide: Hosts, useValue: new Hosts(config.publicUrl) },
        McpErrors,
        { provide: slackClicks, useValue: config.slack },
        { provide: APP_FILTER, useClass: ProblemFilter },
      ],
    };
  }

  /** Serves `/openapi.json` and `/docs`; to be called once the application is assembled and before it listens. */
  static serveDocuments(app: NestFastifyApplication): void {
    serveDocuments(app, GatewayModule);
  }
}
