import type { Grant } from '@intendant/contracts';
import type { Command } from 'commander';
import { call } from '../client.js';
import { type Flags, Settings } from '../config.js';
import type { Context } from '../context.js';
import { standing } from '../show-grant.js';

export function addGrantsRevoke(parent: Command, context: Context): void {
  parent
    .command('revoke')
    .description('end a grant at once; what goes by it and was not sent waits for a person')
    .argument('<id>', 'of the grant, as `grants list` lists it')
    .option('--json', 'print JSON')
    .action(async (id: string, _: unknown, command: Command) => {
      const options = command.optsWithGlobals<Flags & { json?: boolean }>();
      const settings = new Settings(context, options);
      const path = `/v1/grants/${encodeURIComponent(id)}`;
      const grant = await call<Grant>(settings, settings.operatorKey, 'DELETE', path);
      if (options.json) return context.out(JSON.stringify(grant));
      context.out(`${grant.id}  ${standing(grant)}; ${grant.used} of ${grant.maxUses} were used`);
    });
}
