import { logLevel, main } from '@intendant/runtime';
import { runService } from '@intendant/service';
import { DispatcherModule } from '../../dispatcher/src/dispatcher.module.js';
import { readConfig as readGatewayConfig } from '../../gateway/src/config.js';
import { GatewayModule } from '../../gateway/src/gateway.module.js';
import { OutboxRelayModule } from '../../outbox-relay/src/outbox-relay.module.js';
import { readConfig as readPolicyConfig } from '../../policy/src/config.js';
import { PolicyModule } from '../../policy/src/policy.module.js';
import { ReconcilerModule } from '../../reconciler/src/reconciler.module.js';

/** The five services in one process, over the same database and bus as if they were apart. */
await main(
  'standalone',
  () => logLevel(process.env),
  (logger) => {
    const gateway = readGatewayConfig(process.env);
    const config = readPolicyConfig(process.env);
    return runService({
      name: 'standalone',
      ...gateway,
      logger,
      features: [
        PolicyModule.forRoot(config),
        OutboxRelayModule.forRoot(logger),
        DispatcherModule.forRoot(config, logger),
        ReconcilerModule.forRoot(config, logger),
        GatewayModule.forRoot(gateway),
      ],
      fastify: GatewayModule.serverOptions,
      assembled: (app) => GatewayModule.serveDocuments(app),
    });
  },
);
