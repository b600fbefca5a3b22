import type { Command } from 'commander';
import { call } from '../client.js';
import { type Flags, Settings } from '../config.js';
import type { Context } from '../context.js';
import { WrongUsage } from '../errors.js';

export function addRunClose(parent: Command, context: Context): void {
  parent
    .command('close')
    .description('close a run: nothing more is admitted under its token')
    .argument('[run]', 'id of the run; without it, the one that was kept')
    .option('--json', 'print JSON')
    .action(async (given: string | undefined, _: unknown, command: Command) => {
      const options = command.optsWithGlobals<Flags & { json?: boolean }>();
      const settings = new Settings(context, options);
      const runId = given ?? settings.savedRun?.runId;
      if (runId === undefined) throw new WrongUsage('which run? Give its id.');
      await call(settings, settings.serviceKey, 'POST', `/v1/runs/${encodeURIComponent(runId)}/close`);
      context.out(options.json ? JSON.stringify({ runId, closed: true }) : `${runId} is closed`);
    });
}
