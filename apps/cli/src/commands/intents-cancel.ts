import type { IntentResult } from '@intendant/contracts';
import type { Command } from 'commander';
import { call } from '../client.js';
import { type Flags, Settings } from '../config.js';
import type { Context } from '../context.js';
import { CommandFailed } from '../errors.js';
import { showResult } from '../show-result.js';

export function addIntentsCancel(parent: Command, context: Context): void {
  parent
    .command('cancel')
    .description('cancel an intent that was not sent yet')
    .argument('<intent>', 'id of the intent')
    .option('--json', 'print JSON')
    .action(async (intentId: string, _: unknown, command: Command) => {
      const options = command.optsWithGlobals<Flags & { json?: boolean }>();
      const settings = new Settings(context, options);
      const path = `/v1/intents/${encodeURIComponent(intentId)}/cancel`;
      const result = await call<IntentResult>(settings, settings.anyCredential, 'POST', path);
      // "cancelled" is an error to the agent that proposed the call; to whoever cancels it, it is what was asked for.
      showResult({ ...context, failed: () => undefined }, result, options.json);
      if (result.status !== 'cancelled')
        throw new CommandFailed(`It was ${result.status} already; nothing was cancelled.`);
    });
}
