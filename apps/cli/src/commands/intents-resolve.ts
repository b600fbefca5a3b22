import type { IntentResult } from '@intendant/contracts';
import { type Command, Option } from 'commander';
import { call } from '../client.js';
import { type Flags, Settings } from '../config.js';
import type { Context } from '../context.js';
import { showResult } from '../show-result.js';

interface Options extends Flags {
  readonly outcome: string;
  readonly evidence: string;
  readonly externalId?: string;
  readonly json?: boolean;
}

export function addIntentsResolve(parent: Command, context: Context): void {
  parent
    .command('resolve')
    .description('say what happened to an intent, where only a person can find out')
    .argument('<intent>', 'id of the intent')
    .addOption(
      new Option('--outcome <outcome>', 'what happened').choices(['executed', 'not_executed']).makeOptionMandatory(),
    )
    .requiredOption('--evidence <text>', 'how it was found out')
    .option('--external-id <id>', 'id of the effect at the upstream')
    .option('--json', 'print JSON')
    .action(async (intentId: string, _: unknown, command: Command) => {
      const options = command.optsWithGlobals<Options>();
      const { outcome, evidence, externalId } = options;
      const settings = new Settings(context, options);
      const path = `/v1/intents/${encodeURIComponent(intentId)}/resolve`;
      const body = { outcome, evidence, ...(externalId && { externalId }) };
      const result = await call<IntentResult>(settings, settings.operatorKey, 'POST', path, { body });
      // The error says to the agent that it did not happen; the operator has just said so.
      showResult({ ...context, failed: () => undefined }, result, options.json);
    });
}
