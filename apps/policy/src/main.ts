import { logLevel, main } from '@intendant/runtime';
import { runService } from '@intendant/service';
import { readConfig } from './config.js';
import { PolicyModule } from './policy.module.js';

await main(
  'policy',
  () => logLevel(process.env),
  (logger) => {
    const config = readConfig(process.env);
    return runService({ name: 'policy', ...config, logger, features: [PolicyModule.forRoot(config, logger)] });
  },
);
