import { type Grant, grantLimits } from '@intendant/contracts';
import type { Command } from 'commander';
import { units } from '../budget-options.js';
import { call } from '../client.js';
import { type Flags, Settings } from '../config.js';
import type { Context } from '../context.js';
import { showGrant } from '../show-grant.js';
import { wholeNumber } from '../whole-number.js';

interface Options extends Flags {
  readonly uses: string;
  readonly for: string;
  readonly reason: string;
  readonly when?: string;
  readonly total?: string;
  readonly user?: string;
  readonly sandbox?: true;
  readonly tenant?: string;
  readonly json?: boolean;
}

export function addGrantsGive(parent: Command, context: Context): void {
  parent
    .command('give')
    .description('agree in advance to calls of one tool')
    .argument('<tool>', 'name of the tool')
    .requiredOption('--uses <n>', 'how many calls at most', wholeNumber(1, grantLimits.uses))
    .requiredOption('--for <duration>', 'how long, such as 8h or P7D; 30 days at most')
    .requiredOption('--reason <text>', 'why')
    .option('--when <cel>', "condition over args, session and tool, such as 'args.amount <= 50'")
    .option('--total <units>', "what they may cost together, in units of the tool's cost", units)
    .option('--user <user>', 'only in runs of this user')
    .option('--sandbox', 'for calls of the sandbox, and for nothing real')
    .option('--tenant <tenant>', 'for whoever works for all: which one')
    .option('--json', 'print JSON')
    .action(async (tool: string, _: unknown, command: Command) => {
      const options = command.optsWithGlobals<Options>();
      const settings = new Settings(context, options);
      const { uses, total, when, user, sandbox, tenant, reason } = options;
      const body = {
        ...{ tool, maxUses: Number(uses), ttl: options.for, reason, when, user, sandbox, tenant },
        ...(total !== undefined && { maxTotal: Number(total) }),
      };
      const grant = await call<Grant>(settings, settings.operatorKey, 'POST', '/v1/grants', { body });
      if (options.json) return context.out(JSON.stringify(grant));
      for (const line of showGrant(grant)) context.out(line);
      context.out(`revoke  intendant grants revoke ${grant.id}`);
    });
}
