import type { Command } from 'commander';
import { call, queryOf } from '../client.js';
import { type Flags, Settings } from '../config.js';
import type { Context } from '../context.js';
import { WrongUsage } from '../errors.js';
import { type Columns, table } from '../table.js';
import { wholeNumber } from '../whole-number.js';

/** An intent as lists show it. */
export interface IntentLine {
  readonly intentId: string;
  readonly tool: string;
  readonly effect: string;
  readonly sandbox: boolean;
  readonly status: string;
  readonly attempts: number;
  readonly reason: string | null;
  readonly since: string;
}

export const intentColumns: Columns<IntentLine> = {
  INTENT: (i) => i.intentId,
  STATUS: (i) => i.status,
  TOOL: (i) => i.tool,
  EFFECT: (i) => (i.sandbox ? `${i.effect} (sandbox)` : i.effect),
  ATTEMPTS: (i) => i.attempts,
  REASON: (i) => i.reason,
  SINCE: (i) => i.since,
};

interface Options extends Flags {
  readonly state?: string;
  readonly tool?: string;
  readonly sandbox?: boolean;
  readonly real?: boolean;
  readonly tenant?: string;
  readonly run?: string;
  readonly olderThan?: string;
  readonly limit?: string;
  readonly cursor?: string;
  readonly json?: boolean;
}

export function addIntentsList(parent: Command, context: Context): void {
  parent
    .command('list')
    .description('intents, newest first')
    .option('--state <state>', 'only in this state')
    .option('--tool <name>', 'only of this tool')
    .option('--sandbox', 'only those of the sandbox')
    .option('--real', 'only real ones')
    .option('--tenant <tenant>', 'only of this tenant')
    .option('--run <id>', 'only of this run')
    .option('--older-than <duration>', 'only those that have been so for at least this long, such as 10m')
    .option('--limit <n>', 'how many, 200 at most', wholeNumber(1, 200))
    .option('--cursor <cursor>', 'continue after the page before')
    .option('--json', 'print JSON')
    .action(async (_: unknown, command: Command) => {
      const options = command.optsWithGlobals<Options>();
      const { state, tool, sandbox, real, tenant, run, olderThan, limit, cursor } = options;
      if (sandbox && real) throw new WrongUsage('--sandbox and --real exclude each other; leave both out for all');
      const which = sandbox ? 'true' : real ? 'false' : undefined;
      const settings = new Settings(context, options);
      const query = queryOf({ state, tool, sandbox: which, tenant, runId: run, olderThan, limit, cursor });
      const page = await call<{ items: IntentLine[]; nextCursor: string | null }>(
        settings,
        settings.operatorKey,
        'GET',
        `/v1/intents${query}`,
      );
      if (options.json) return context.out(JSON.stringify(page));
      for (const line of table(page.items, intentColumns, 'no intents')) context.out(line);
      if (page.nextCursor) context.err(`more: --cursor ${page.nextCursor}`);
    });
}
