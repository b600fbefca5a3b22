import type { Command } from 'commander';
import { call, queryOf } from '../client.js';
import { type Flags, Settings } from '../config.js';
import type { Context } from '../context.js';
import { type Columns, table } from '../table.js';
import { wholeNumber } from '../whole-number.js';

/** What waits for people, as lists show it. */
interface ApprovalLine {
  readonly id: string;
  readonly requester: string;
  readonly view: string;
  readonly sandbox: boolean;
  readonly quorum: number;
  readonly given: number;
  readonly expiresAt: string;
}

const columns: Columns<ApprovalLine> = {
  INTENT: (a) => a.id,
  FOR: (a) => a.requester,
  GIVEN: (a) => `${a.given} of ${a.quorum}`,
  EXPIRES: (a) => a.expiresAt,
  ACTION: (a) => (a.sandbox ? `${a.view} (sandbox)` : a.view),
};

interface Options extends Flags {
  readonly tool?: string;
  readonly tenant?: string;
  readonly limit?: string;
  readonly cursor?: string;
  readonly json?: boolean;
}

export function addApprovalsList(parent: Command, context: Context): void {
  parent
    .command('list')
    .description('what waits for approval, the oldest first')
    .option('--tool <name>', 'only of this tool')
    .option('--tenant <tenant>', 'only of this tenant')
    .option('--limit <n>', 'how many, 200 at most', wholeNumber(1, 200))
    .option('--cursor <cursor>', 'continue after the page before')
    .option('--json', 'print JSON')
    .action(async (_: unknown, command: Command) => {
      const options = command.optsWithGlobals<Options>();
      const { tool, tenant, limit, cursor } = options;
      const settings = new Settings(context, options);
      const path = `/v1/approvals${queryOf({ tool, tenant, limit, cursor })}`;
      const page = await call<{ items: ApprovalLine[]; nextCursor: string | null }>(
        settings,
        settings.operatorKey,
        'GET',
        path,
      );
      if (options.json) return context.out(JSON.stringify(page));
      for (const line of table(page.items, columns, 'nothing waits for approval')) context.out(line);
      if (page.nextCursor) context.err(`more: --cursor ${page.nextCursor}`);
    });
}
