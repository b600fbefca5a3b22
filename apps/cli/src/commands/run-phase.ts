import type { Command } from 'commander';
import { call } from '../client.js';
import { type Flags, Settings } from '../config.js';
import type { Context } from '../context.js';

interface Options extends Flags {
  readonly none?: true;
  readonly json?: boolean;
}

export function addRunPhase(parent: Command, context: Context): void {
  parent
    .command('phase')
    .description('let a run enter another phase, or none')
    .argument('<run>', 'id of the run')
    .argument('[phase]', 'limits the run to tools of this phase')
    .option('--none', 'it is in no phase any more')
    .option('--json', 'print JSON')
    .action(async (runId: string, given: string | undefined, _: unknown, command: Command) => {
      const options = command.optsWithGlobals<Options>();
      // Which of both was meant cannot be known.
      if ((given === undefined) === (options.none === undefined)) {
        return command.error('error: say which phase, or --none, and not both');
      }
      const settings = new Settings(context, options);
      const path = `/v1/runs/${encodeURIComponent(runId)}/phase`;
      const answer = await call<{ runId: string; phase: string | null }>(settings, settings.serviceKey, 'POST', path, {
        body: { phase: given ?? null },
      });
      if (options.json) return context.out(JSON.stringify(answer));
      const { phase } = answer;
      context.out(phase === null ? `${runId} is in no phase` : `${runId} is in the phase ${phase}`);
    });
}
