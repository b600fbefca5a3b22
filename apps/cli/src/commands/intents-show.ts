import type { IntentResult } from '@intendant/contracts';
import type { Command } from 'commander';
import { call } from '../client.js';
import { type Flags, Settings } from '../config.js';
import type { Context } from '../context.js';
import { describeEvent, type EventEntry } from '../describe-event.js';
import { showResult } from '../show-result.js';

export function addIntentsShow(parent: Command, context: Context): void {
  parent
    .command('show')
    .description('how an intent stands and everything that happened to it')
    .argument('<intent>', 'id of the intent')
    .option('--json', 'print JSON')
    .action(async (intentId: string, _: unknown, command: Command) => {
      const options = command.optsWithGlobals<Flags & { json?: boolean }>();
      const settings = new Settings(context, options);
      const path = `/v1/intents/${encodeURIComponent(intentId)}`;
      const result = await call<IntentResult>(settings, settings.anyCredential, 'GET', path);
      const { events } = await call<{ events: EventEntry[] }>(
        settings,
        settings.anyCredential,
        'GET',
        `${path}/events`,
      );
      if (options.json) return context.out(JSON.stringify({ result, events }));
      // It was shown, which is all that was asked for: an intent that failed is no failure of this command.
      showResult({ ...context, failed: () => undefined }, result, false);
      context.out('');
      for (const event of events) context.out(describeEvent(event));
    });
}
