import type { Grant } from '@intendant/contracts';
import type { Command } from 'commander';
import { call, queryOf } from '../client.js';
import { type Flags, Settings } from '../config.js';
import type { Context } from '../context.js';
import { standing } from '../show-grant.js';
import { type Columns, table } from '../table.js';
import { wholeNumber } from '../whole-number.js';

interface Options extends Flags {
  readonly tool?: string;
  readonly tenant?: string;
  readonly all?: true;
  readonly limit?: string;
  readonly cursor?: string;
  readonly json?: boolean;
}

const columns: Columns<Grant> = {
  GRANT: ({ id }) => id,
  TOOL: ({ tool, sandbox }) => (sandbox ? `${tool} (sandbox)` : tool),
  USED: ({ used, maxUses }) => `${used} of ${maxUses}`,
  SPENT: ({ spent, maxTotal }) => (maxTotal === null ? null : `${spent} of ${maxTotal}`),
  UNTIL: ({ expiresAt }) => expiresAt,
  STATE: standing,
  BY: ({ givenBy }) => givenBy,
  WHEN: ({ when }) => when,
};

export function addGrantsList(parent: Command, context: Context): void {
  parent
    .command('list')
    .description('what is agreed to in advance, the newest first')
    .option('--tool <name>', 'for this tool')
    .option('--tenant <tenant>', 'of this tenant')
    .option('--all', 'those that are over or revoked, too')
    .option('--limit <n>', 'how many, 200 at most', wholeNumber(1, 200))
    .option('--cursor <cursor>', 'continue after the page before')
    .option('--json', 'print JSON')
    .action(async (_: unknown, command: Command) => {
      const options = command.optsWithGlobals<Options>();
      const settings = new Settings(context, options);
      const { tool, tenant, all, limit, cursor } = options;
      const path = `/v1/grants${queryOf({ tool, tenant, all: all && 'true', limit, cursor })}`;
      const page = await call<{ items: readonly Grant[]; nextCursor: string | null }>(
        ...([settings, settings.operatorKey, 'GET', path] as const),
      );
      if (options.json) return context.out(JSON.stringify(page));
      for (const line of table(page.items, columns, 'nothing is granted')) context.out(line);
      if (page.nextCursor) context.err(`more: --cursor ${page.nextCursor}`);
    });
}
