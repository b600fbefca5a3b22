import { logLevel, main } from '@intendant/runtime';
import { runService } from '@intendant/service';
import { readConfig } from './config.js';
import { DispatcherModule } from './dispatcher.module.js';

await main(
  'dispatcher',
  () => logLevel(process.env),
  (logger) => {
    const config = readConfig(process.env, logger);
    return runService({ name: 'dispatcher', ...config, logger, features: [DispatcherModule.forRoot(config, logger)] });
  },
);
