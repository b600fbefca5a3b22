import { logLevel, main } from '@intendant/runtime';
import { runService } from '@intendant/service';
import { readConfig } from './config.js';
import { NotifierModule } from './notifier.module.js';

await main(
  'notifier',
  () => logLevel(process.env),
  (logger) => {
    const config = readConfig(process.env);
    return runService({ name: 'notifier', ...config, logger, features: [NotifierModule.forRoot(config, logger)] });
  },
);
