import type { Grant } from '@intendant/contracts';
import type { Command } from 'commander';
import { call } from '../client.js';
import { type Flags, Settings } from '../config.js';
import type { Context } from '../context.js';
import { showGrant } from '../show-grant.js';

export function addGrantsShow(parent: Command, context: Context): void {
  parent
    .command('show')
    .description('what a grant allows, and what was taken of it')
    .argument('<id>', 'of the grant, as `grants list` lists it')
    .option('--json', 'print JSON')
    .action(async (id: string, _: unknown, command: Command) => {
      const options = command.optsWithGlobals<Flags & { json?: boolean }>();
      const settings = new Settings(context, options);
      const path = `/v1/grants/${encodeURIComponent(id)}`;
      const grant = await call<Grant>(settings, settings.operatorKey, 'GET', path);
      if (options.json) return context.out(JSON.stringify(grant));
      for (const line of showGrant(grant)) context.out(line);
    });
}
