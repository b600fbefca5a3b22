import type { Command } from 'commander';
import { call } from '../client.js';
import { type Flags, Settings } from '../config.js';
import type { Context } from '../context.js';

interface Replayed {
  readonly results: readonly { readonly id: string; readonly intentId: string; readonly status: string }[];
}

export function addDeadLettersReplay(parent: Command, context: Context): void {
  parent
    .command('replay')
    .description('take up a dead letter again; an intent is reconciled first')
    .argument('<id>', 'id of an intent or of a message')
    .requiredOption('--reason <text>', 'why, for the record')
    .option('--json', 'print JSON')
    .action(async (id: string, _: unknown, command: Command) => {
      const options = command.optsWithGlobals<Flags & { reason: string; json?: boolean }>();
      const settings = new Settings(context, options);
      const body = { ids: [id], reason: options.reason };
      const answer = await call<Replayed>(settings, settings.operatorKey, 'POST', '/v1/dead-letters/replay', { body });
      if (options.json) return context.out(JSON.stringify(answer));
      for (const { intentId, status } of answer.results) context.out(`intent ${intentId} is ${status} now`);
    });
}
