import type { Pause } from '@intendant/contracts';
import type { Command } from 'commander';
import { call } from '../client.js';
import { type Flags, Settings } from '../config.js';
import type { Context } from '../context.js';
import { scopeOf } from './pauses.js';

export function addResume(parent: Command, context: Context): void {
  parent
    .command('resume')
    .description('end a pause; what has waited for it goes on')
    .argument('<id>', 'of the pause, as `pauses` lists it')
    .option('--json', 'print JSON')
    .action(async (id: string, _: unknown, command: Command) => {
      const options = command.optsWithGlobals<Flags & { json?: boolean }>();
      const settings = new Settings(context, options);
      const path = `/v1/pauses/${encodeURIComponent(id)}`;
      const pause = await call<Pause>(settings, settings.operatorKey, 'DELETE', path);
      if (options.json) return context.out(JSON.stringify(pause));
      context.out(`${scopeOf(pause)} goes on`);
    });
}
