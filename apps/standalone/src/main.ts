import { logLevel, main } from '@intendant/runtime';
import { runService } from '@intendant/service';
import { readConfig as readDispatcherConfig } from '../../dispatcher/src/config.js';
import { DispatcherModule } from '../../dispatcher/src/dispatcher.module.js';
import { readConfig as readGatewayConfig } from '../../gateway/src/config.js';
import { GatewayModule } from '../../gateway/src/gateway.module.js';
import { readConfig as readNotifierConfig } from '../../notifier/src/config.js';
import { NotifierModule } from '../../notifier/src/notifier.module.js';
import { OutboxRelayModule } from '../../outbox-relay/src/outbox-relay.module.js';
import { readConfig as readPolicyConfig } from '../../policy/src/config.js';
import { PolicyModule } from '../../policy/src/policy.module.js';
import { readConfig as readReconcilerConfig } from '../../reconciler/src/config.js';
import { ReconcilerModule } from '../../reconciler/src/reconciler.module.js';

/** The six services in one process, over the same database and bus as if they were apart. */
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
        PolicyModule.forRoot(config, logger),
        OutboxRelayModule.forRoot(logger),
        DispatcherModule.forRoot(readDispatcherConfig(process.env, logger), logger),
        ReconcilerModule.forRoot(readReconcilerConfig(process.env, logger), logger),
        NotifierModule.forRoot(readNotifierConfig(process.env), logger),
        GatewayModule.forRoot(gateway),
      ],
      fastify: GatewayModule.serverOptions,
      assembled: (app) => GatewayModule.serveDocuments(app),
    });
  },
);
