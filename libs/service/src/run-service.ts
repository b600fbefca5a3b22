import { Bus, BusModule, commitHints, NatsStrategy } from '@intendant/bus';
import { HealthModule, type Logger, MetricsModule, type ServiceOptions, startService } from '@intendant/runtime';
import { type Publish, Store, StoreModule } from '@intendant/store';
import { type DynamicModule, type INestApplication, Module } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { alarm } from './alarm.js';

export interface RunOptions {
  /** Name of the process, in logs, in the database's list of sessions and on the bus. */
  readonly name: string;
  readonly databaseUrl: string;
  readonly natsUrl: string;
  /** Copies that a NATS cluster keeps of each stream; undefined when that is left to its operator. */
  readonly streamReplicas: number | undefined;
  readonly host: string;
  readonly port: number;
  readonly logger: Logger;
  /** What the process does; finds `Store` and `Bus` as global providers. */
  readonly features: readonly DynamicModule[];
  readonly fastify?: ServiceOptions['fastify'];
  readonly requestMs?: ServiceOptions['requestMs'];
  /** Called once the application is assembled, before it listens. */
  readonly assembled?: (app: NestFastifyApplication) => void;
}

@Module({})
class Service {}

/**
 * What every service is made of: one connection to the bus, one pool to the database whose commits are hinted at,
 * health and metrics, and the features of this process.
 *
 * @throws whatever keeps it from starting, in plain words
 */
export function runService(options: RunOptions): Promise<INestApplication> {
  const { name, databaseUrl, natsUrl, streamReplicas, host, port, logger, features, fastify, requestMs, assembled } =
    options;
  const imports = [
    BusModule.forRoot({ url: natsUrl, name, replicas: streamReplicas }),
    StoreModule.forRootAsync({
      inject: [Bus],
      useFactory: (bus: Bus) => ({
        url: databaseUrl,
        name,
        committed: commitHints(bus),
        corrected: alarm(logger),
        publish: publishWith(bus),
      }),
    }),
    HealthModule.forRoot([Store, Bus], (store: Store, bus: Bus) => [
      { name: 'database', check: () => store.ping() },
      { name: 'bus', check: async () => void (await bus.rtt()) },
    ]),
    MetricsModule,
    ...features,
  ];
  return startService({
    name,
    module: { module: Service, imports },
    host,
    port,
    logger,
    ...(fastify && { fastify }),
    requestMs,
    prepare: (app) => {
      app.connectMicroservice({ strategy: new NatsStrategy({ bus: app.get(Bus), service: name }) });
      assembled?.(app);
    },
  });
}

function publishWith(bus: Bus): Publish {
  return async (messages) => new Set((await bus.publish(messages)).published);
}
