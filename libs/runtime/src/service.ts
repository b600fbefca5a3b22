import 'reflect-metadata';
import { type DynamicModule, type INestApplication, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyServerOptions } from 'fastify';
import { setting } from './environment.js';
import { armFault, parseFault } from './fault-point.js';
import { createLogger, type Logger, NestLogger } from './logger.js';

export interface ServiceOptions {
  readonly name: string;
  readonly module: DynamicModule | Type;
  readonly host: string;
  readonly port: number;
  readonly logger: Logger;
  /** Largest request body the service reads, in bytes. */
  readonly bodyLimit?: number;
  /** How the HTTP server answers what never reaches the application. */
  readonly fastify?: Pick<FastifyServerOptions, 'frameworkErrors' | 'clientErrorHandler'>;
  /** How long a request, head and body, may take to arrive, in ms; 30 s when left out. */
  readonly requestMs?: number | undefined;
  /** Connects transports and whatever else needs the assembled application. */
  readonly prepare?: (app: NestFastifyApplication) => Promise<void> | void;
}

/** Assembles the Nest application, starts transports and HTTP, and stops cleanly on SIGTERM and SIGINT. */
export async function startService(options: ServiceOptions): Promise<INestApplication> {
  const { name, module, host, port, logger, bodyLimit = 1_048_576, requestMs = 30_000, fastify } = options;
  const adapter = new FastifyAdapter({
    ...{ bodyLimit, forceCloseConnections: true, requestTimeout: requestMs },
    http: {
      // Where that of the head is the longer one, Node takes it for the whole request, and the other for the head.
      headersTimeout: requestMs,
      // How often it looks for those that have had their time: every 30 seconds when left out.
      connectionsCheckingInterval: requestMs / 10,
    },
    ...fastify,
  });
  const app = await NestFactory.create<NestFastifyApplication>(module, adapter, {
    logger: new NestLogger(logger),
    abortOnError: false,
  });
  app.enableShutdownHooks();
  await options.prepare?.(app);
  await app.startAllMicroservices();
  await app.listen(port, host);
  logger.info(
    {
      url: await app.getUrl(),
      startedInMs: Math.round(performance.now()),
      rssMb: Math.round(process.memoryUsage().rss / 1_048_576),
    },
    `${name} is ready`,
  );
  return app;
}

/** Errors that explain themselves: the message says what is wrong and what to do, a stack would only hide it. */
const explained = new Set([
  'ConfigError',
  'StoreUnusable',
  'BusUnavailable',
  'TopologyMismatch',
  'ToolFileError',
  'ContractChanged',
]);

/** Runs a service's `main`: a start that fails is told in plain words on standard error, and the process ends with 1. */
export async function main(
  name: string,
  level: () => string,
  start: (logger: Logger) => Promise<unknown>,
): Promise<void> {
  try {
    const fault = setting(process.env, 'INTENDANT_FAULT');
    if (fault !== undefined) armFault(parseFault(fault));
    await start(createLogger(name, level()));
  } catch (error) {
    process.stderr.write(`${name} cannot start: ${describe(error as Error)}\n`);
    process.exit(1);
  }
}

function describe(error: Error & { code?: string; address?: string; port?: number }): string {
  if (explained.has(error.name)) return error.message;
  if (error.code === 'EADDRINUSE')
    return `port ${error.port} on ${error.address} is in use. Stop what listens there, or set INTENDANT_HTTP_PORT`;
  if (error.code === 'EACCES' && error.port !== undefined)
    return `port ${error.port} may not be opened by this user. Set INTENDANT_HTTP_PORT above 1023`;
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND')
    return `the address of INTENDANT_HTTP_HOST does not exist on this machine: ${error.message}`;
  return error.stack ?? error.message;
}
