import { logLevel, main } from '@intendant/runtime';
import { runService } from '@intendant/service';
import { readConfig } from './config.js';
import { OutboxRelayModule } from './outbox-relay.module.js';

await main(
  'outbox-relay',
  () => logLevel(process.env),
  (logger) => {
    const config = readConfig(process.env);
    return runService({ name: 'outbox-relay', ...config, logger, features: [OutboxRelayModule.forRoot(logger)] });
  },
);
