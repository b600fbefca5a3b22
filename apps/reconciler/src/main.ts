import { createLogger, logLevel, main } from '@intendant/runtime';
import { runService } from '@intendant/service';
import { readConfig, readPassConfig } from './config.js';
import { runOnce } from './once.js';
import { ReconcilerModule } from './reconciler.module.js';

const name = 'reconciler';

await main(
  name,
  () => logLevel(process.env),
  async (logger) => {
    if (process.argv.includes('--once')) {
      // Standard output is the counts; anything else would break a script that reads them.
      const toStderr = createLogger(name, logger.level, 'stderr');
      process.exitCode = await runOnce(readPassConfig(process.env, toStderr), toStderr);
      return;
    }
    const config = readConfig(process.env, logger);
    await runService({ name, ...config, logger, features: [ReconcilerModule.forRoot(config, logger)] });
  },
);
