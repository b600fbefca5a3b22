import type { Command } from 'commander';
import { call } from '../client.js';
import { type Flags, Settings } from '../config.js';
import type { Context } from '../context.js';
import { printable } from '../table.js';

interface Dismissed {
  readonly id: string;
  readonly dismissal: { readonly at: string; readonly by: string; readonly reason: string };
}

export function addDeadLettersDismiss(parent: Command, context: Context): void {
  parent
    .command('dismiss')
    .description('close a message that could not be admitted; an intent is resolved instead')
    .argument('<id>', 'id of a message')
    .requiredOption('--reason <text>', 'why, for the record')
    .option('--json', 'print JSON')
    .action(async (id: string, _: unknown, command: Command) => {
      const options = command.optsWithGlobals<Flags & { reason: string; json?: boolean }>();
      const settings = new Settings(context, options);
      const path = `/v1/dead-letters/${encodeURIComponent(id)}/dismiss`;
      const body = { reason: options.reason };
      const answer = await call<Dismissed>(settings, settings.operatorKey, 'POST', path, { body });
      if (options.json) return context.out(JSON.stringify(answer));
      const { at, by, reason } = answer.dismissal;
      context.out(`message ${answer.id} was dismissed by ${by} at ${at}: ${printable(reason)}`);
    });
}
