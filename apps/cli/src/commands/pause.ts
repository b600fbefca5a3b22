import type { Pause } from '@intendant/contracts';
import { type Command, Option } from 'commander';
import { call } from '../client.js';
import { type Flags, Settings } from '../config.js';
import type { Context } from '../context.js';
import { scopeOf } from './pauses.js';

interface Options extends Flags {
  readonly tenant?: string;
  readonly tool?: string;
  readonly namespace?: string;
  readonly upstream?: string;
  readonly all?: true;
  readonly reason: string;
  readonly for?: string;
  readonly json?: boolean;
}

interface BegunPause {
  readonly pause: Pause;
  readonly underWay: number;
}

export function addPause(parent: Command, context: Context): void {
  const others = ['tenant', 'tool', 'namespace', 'upstream'];
  parent
    .command('pause')
    .description('keep a tool, a namespace, an upstream, a tenant or everything from beginning anything')
    .option('--tenant <tenant>', 'of this tenant')
    .option('--tool <name>', 'this tool')
    .option('--namespace <name>', 'tools whose names begin with it and a dot')
    .option('--upstream <name>', 'tools of this upstream')
    .addOption(new Option('--all', 'everything').conflicts(others))
    .requiredOption('--reason <text>', 'why; agents are told')
    .option('--for <duration>', 'how long, such as 30m; without it until `resume`')
    .option('--json', 'print JSON')
    .action(async (_: unknown, command: Command) => {
      const options = command.optsWithGlobals<Options>();
      const { tenant, tool, namespace, upstream, all, reason } = options;
      const scope = { tenant, tool, namespace, upstream };
      // Nothing given is most probably something forgotten.
      if (!all && Object.values(scope).every((part) => part === undefined)) {
        return command.error('error: say what: --tool, --namespace, --upstream, --tenant, or --all for everything');
      }
      const settings = new Settings(context, options);
      const body = { ...scope, reason, for: options.for };
      const answer = await call<BegunPause>(settings, settings.operatorKey, 'PUT', '/v1/pauses', { body });
      if (options.json) return context.out(JSON.stringify(answer));
      const { pause, underWay } = answer;
      const end = pause.until === null ? `until: intendant resume ${pause.id}` : `until ${pause.until}`;
      context.out(`paused ${scopeOf(pause)} ${end}`);
      if (underWay > 0) context.out(`under way and not touched: ${underWay}`);
    });
}
