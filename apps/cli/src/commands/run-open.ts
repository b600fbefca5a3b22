import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { OpenedRun } from '@intendant/contracts';
import type { Command } from 'commander';
import { addBudgetOptions, type BudgetOptions, budgetsOf } from '../budget-options.js';
import { call } from '../client.js';
import { type Flags, Settings } from '../config.js';
import type { Context } from '../context.js';
import { WrongUsage } from '../errors.js';
import { showBudgets } from '../show-budgets.js';

interface Options extends Flags, BudgetOptions {
  readonly user: string;
  readonly permission: readonly string[];
  readonly profile: string;
  readonly phase?: string;
  readonly ttl?: string;
  readonly restrictFile?: string;
  readonly sandbox?: boolean;
  readonly save?: boolean;
  readonly json?: boolean;
}

export function addRunOpen(parent: Command, context: Context): void {
  const command = parent
    .command('open')
    .description('open a run and print the token its agent uses')
    .requiredOption('--user <user>', 'on whose behalf the agent acts')
    .option('--permission <permission...>', 'what the run may use', [])
    .option('--profile <profile>', 'interactive or batch', 'interactive')
    .option('--phase <phase>', 'limits the run to tools of this phase')
    .option('--ttl <duration>', 'how long it lives: PT30M, 2h or seconds');
  addBudgetOptions(command)
    .option('--restrict-file <file>', 'bounds of arguments: a JSON list of {"tools", "allow", "message"}')
    .option('--sandbox', "every call goes to its tool's sandbox")
    .option('--save', 'keep the token for the commands that follow')
    .option('--json', 'print JSON')
    .action(async (_: unknown, command: Command) => {
      const options = command.optsWithGlobals<Options>();
      const settings = new Settings(context, options);
      const { user, permission, profile, phase, ttl, sandbox, restrictFile } = options;
      const body = {
        ...{ user, permissions: permission, profile, budgets: budgetsOf(options) },
        ...(phase && { phase }),
        ...(ttl && { ttl }),
        ...(sandbox && { sandbox }),
        ...(restrictFile && { restrict: readJson(path.resolve(context.directory, restrictFile)) }),
      };
      const run = await call<OpenedRun>(settings, settings.serviceKey, 'POST', '/v1/runs', { body });
      if (options.save) context.err(`kept in ${settings.save(run)}`);
      if (options.json) return context.out(JSON.stringify(run));
      context.out(`run      ${run.runId}`);
      context.out(`until    ${run.expiresAt}`);
      context.out(`budgets  ${showBudgets(run.budgets)}`);
      context.out(`token    ${run.token}`);
    });
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new WrongUsage(`--restrict-file ${file} is not a JSON file: ${(error as Error).message}`);
  }
}
