import type { IntentResult } from '@intendant/contracts';
import type { Command } from 'commander';
import { call } from '../client.js';
import { type Flags, Settings } from '../config.js';
import type { Context } from '../context.js';
import { CommandFailed } from '../errors.js';
import { showResult } from '../show-result.js';
import { wholeNumber } from '../whole-number.js';

export function addIntentsCancel(parent: Command, context: Context): void {
  parent
    .command('cancel')
    .description('cancel an intent; what may have been sent is aborted and ends in what really happened')
    .argument('<intent>', 'id of the intent')
    .option('--wait <seconds>', 'how long to wait for what really happened, 30 at most', wholeNumber(0, 30), '10')
    .option('--json', 'print JSON')
    .action(async (intentId: string, _: unknown, command: Command) => {
      const options = command.optsWithGlobals<Flags & { wait: string; json?: boolean }>();
      const settings = new Settings(context, options);
      const path = `/v1/intents/${encodeURIComponent(intentId)}/cancel`;
      const result = await call<IntentResult>(settings, settings.anyCredential, 'POST', path, {
        headers: { prefer: `wait=${options.wait}` },
      });
      // An error to the agent that proposed the call may be just what whoever cancels it asked for.
      showResult({ ...context, failed: () => undefined }, result, options.json);
      if (result.outcome === 'executed') throw new CommandFailed('It happened all the same.');
      if (result.error?.code === 'cancelled') return;
      if (result.outcome === 'not_executed') throw new CommandFailed(`It was ${result.status} already.`);
      throw new CommandFailed(
        'It is being aborted and will not be sent again, but it is not known yet whether it happened.',
      );
    });
}
