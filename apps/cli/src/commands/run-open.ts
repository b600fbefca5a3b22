import type { Command } from 'commander';
import { call } from '../client.js';
import { type Flags, type SavedRun, Settings } from '../config.js';
import type { Context } from '../context.js';

interface Options extends Flags {
  readonly user: string;
  readonly permission: readonly string[];
  readonly profile: string;
  readonly phase?: string;
  readonly ttl?: string;
  readonly sandbox?: boolean;
  readonly save?: boolean;
  readonly json?: boolean;
}

export function addRunOpen(parent: Command, context: Context): void {
  parent
    .command('open')
    .description('open a run and print the token its agent uses')
    .requiredOption('--user <user>', 'on whose behalf the agent acts')
    .option('--permission <permission...>', 'what the run may use', [])
    .option('--profile <profile>', 'interactive or batch', 'interactive')
    .option('--phase <phase>', 'limits the run to tools of this phase')
    .option('--ttl <duration>', 'how long it lives: PT30M, 2h or seconds')
    .option('--sandbox', "every call goes to its tool's sandbox")
    .option('--save', 'keep the token for the commands that follow')
    .option('--json', 'print JSON')
    .action(async (_: unknown, command: Command) => {
      const options = command.optsWithGlobals<Options>();
      const settings = new Settings(context, options);
      const { user, permission, profile, phase, ttl, sandbox } = options;
      const body = {
        ...{ user, permissions: permission, profile },
        ...(phase && { phase }),
        ...(ttl && { ttl }),
        ...(sandbox && { sandbox }),
      };
      const run = await call<SavedRun>(settings, settings.serviceKey, 'POST', '/v1/runs', { body });
      if (options.save) context.err(`kept in ${settings.save(run)}`);
      if (options.json) return context.out(JSON.stringify(run));
      context.out(`run    ${run.runId}`);
      context.out(`until  ${run.expiresAt}`);
      context.out(`token  ${run.token}`);
    });
}
