import { readFileSync } from 'node:fs';
import type { ErrorObject, IntentResult } from '@intendant/contracts';
import type { Command } from 'commander';
import { call } from '../client.js';
import { type Flags, Settings } from '../config.js';
import type { Context } from '../context.js';
import { WrongUsage } from '../errors.js';
import { showResult } from '../show-result.js';
import { printable } from '../table.js';

interface Options extends Flags {
  readonly digest?: string;
  readonly reason?: string;
  readonly json?: boolean;
}

export function addApprovalsApprove(parent: Command, context: Context): void {
  single(parent, 'approve', 'agree to exactly what was shown')
    .requiredOption('--digest <digest>', 'the digest that `approvals show` has told')
    .action((id: string, _: unknown, command: Command) => {
      const { digest } = command.optsWithGlobals<Options>();
      return decide(context, command, id, 'approve', { digest });
    });
}

export function addApprovalsRefuse(parent: Command, context: Context): void {
  single(parent, 'refuse', 'say no; the same in other words is not asked again')
    .requiredOption('--reason <text>', 'why; the agent is told')
    .option('--digest <digest>', 'refuse only if this is what is asked now')
    .action((id: string, _: unknown, command: Command) => {
      const { reason, digest } = command.optsWithGlobals<Options>();
      return decide(context, command, id, 'refuse', { reason, ...(digest !== undefined && { digest }) });
    });
}

export function addApprovalsWithdraw(parent: Command, context: Context): void {
  single(parent, 'withdraw', 'take back what you have agreed to, as long as it was not sent').action(
    (id: string, _: unknown, command: Command) => decide(context, command, id, 'withdraw', undefined),
  );
}

export function addApprovalsDecide(parent: Command, context: Context): void {
  parent
    .command('decide')
    .description('decide about many at once: a JSON list of {"id","decision","digest","reason"}')
    .argument('<file>', 'the list; - reads it from standard input')
    .option('--json', 'print JSON')
    .action(async (file: string, _: unknown, command: Command) => {
      const options = command.optsWithGlobals<Options>();
      const settings = new Settings(context, options);
      const given = jsonIn(file, file === '-' ? await context.input() : textOf(file));
      const body = Array.isArray(given) ? { decisions: given } : given;
      const path = '/v1/approvals/decide';
      const answer = await call<{ results: Decided[] }>(settings, settings.operatorKey, 'POST', path, { body });
      if (answer.results.some((each) => 'error' in each)) context.failed();
      if (options.json) return context.out(JSON.stringify(answer));
      for (const each of answer.results) context.out(printable(lineOf(each)));
    });
}

type Decided = { readonly id: string } & ({ readonly result: IntentResult } | { readonly error: ErrorObject });

function lineOf(decided: Decided): string {
  return 'error' in decided
    ? `intent ${decided.id}: ${decided.error.message}`
    : `intent ${decided.id} is ${decided.result.status} now`;
}

function single(parent: Command, name: string, description: string): Command {
  return parent
    .command(name)
    .description(description)
    .argument('<intent>', 'id of the intent')
    .option('--json', 'print JSON');
}

async function decide(
  context: Context,
  command: Command,
  id: string,
  action: 'approve' | 'refuse' | 'withdraw',
  body: object | undefined,
): Promise<void> {
  const options = command.optsWithGlobals<Options>();
  const settings = new Settings(context, options);
  const path = `/v1/approvals/${encodeURIComponent(id)}/${action}`;
  const result = await call<IntentResult>(settings, settings.operatorKey, 'POST', path, { body: body ?? {} });
  // What the agent is told is an error to the agent; the operator has just said so.
  showResult({ ...context, failed: () => undefined }, result, options.json);
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new WrongUsage(`${file} cannot be read: ${(error as Error).message}`);
  }
}

function jsonIn(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new WrongUsage(`${file} is not JSON: ${(error as Error).message}`);
  }
}
