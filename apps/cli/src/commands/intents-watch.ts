import { type IntentResult, isSettled } from '@intendant/contracts';
import type { Command } from 'commander';
import { call } from '../client.js';
import { type Flags, Settings } from '../config.js';
import type { Context } from '../context.js';
import { describeEvent, type EventEntry } from '../describe-event.js';

/** Seconds that the gateway waits for an outcome before the events are read again. */
const roundSeconds = 1;

export function addIntentsWatch(parent: Command, context: Context): void {
  parent
    .command('watch')
    .description('follow an intent until nothing more happens by itself')
    .argument('<intent>', 'id of the intent')
    .option('--json', 'print one event as JSON per line')
    .action(async (intentId: string, _: unknown, command: Command) => {
      const options = command.optsWithGlobals<Flags & { json?: boolean }>();
      const settings = new Settings(context, options);
      const path = `/v1/intents/${encodeURIComponent(intentId)}`;
      const headers = { prefer: `wait=${roundSeconds}` };
      let seen = 0;
      const showNew = async () => {
        const { events } = await call<{ events: EventEntry[] }>(
          settings,
          settings.anyCredential,
          'GET',
          `${path}/events`,
        );
        for (const event of events.slice(seen))
          context.out(options.json ? JSON.stringify(event) : describeEvent(event));
        seen = events.length;
      };
      for (;;) {
        await showNew();
        const result = await call<IntentResult>(settings, settings.anyCredential, 'GET', path, { headers });
        if (!isSettled(result.status)) continue;
        await showNew();
        if (result.error) context.failed();
        return;
      }
    });
}
