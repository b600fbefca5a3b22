import type { Environment, Logger } from '@intendant/runtime';
import { runService } from '@intendant/service';
import type { INestApplication } from '@nestjs/common';
import { readConfig } from './config.js';
import { GatewayModule } from './gateway.module.js';
import { type Patience, usualPatience } from './patience.js';

/** Starts the gateway; resolves when it takes requests. @throws whatever keeps it from starting, in plain words */
export async function serve(
  env: Environment,
  logger: Logger,
  patience: Patience = usualPatience,
): Promise<INestApplication> {
  const config = readConfig(env);
  return runService({
    name: 'gateway',
    ...config,
    logger,
    features: [GatewayModule.forRoot(config, patience)],
    fastify: GatewayModule.serverOptions,
    requestMs: patience.requestMs,
    assembled: (app) => GatewayModule.serveDocuments(app),
  });
}
