import type { ErrorObject } from '@intendant/contracts';
import type { Command } from 'commander';
import { call, queryOf } from '../client.js';
import { type Flags, Settings } from '../config.js';
import type { Context } from '../context.js';
import { type Columns, table } from '../table.js';
import { wholeNumber } from '../whole-number.js';
import { type IntentLine, intentColumns } from './intents-list.js';

interface MessageLine {
  readonly id: string;
  readonly subject: string;
  readonly error: ErrorObject;
  readonly receivedAt: string;
  readonly sender: { readonly user: string; readonly runId: string } | null;
}

interface Page {
  readonly intents: readonly IntentLine[];
  readonly messages: readonly MessageLine[];
  readonly nextCursor: string | null;
}

const messageColumns: Columns<MessageLine> = {
  MESSAGE: (m) => m.id,
  ERROR: (m) => m.error.code,
  SUBJECT: (m) => m.subject,
  SENDER: (m) => m.sender && `${m.sender.user} in ${m.sender.runId}`,
  RECEIVED: (m) => m.receivedAt,
};

export function addDeadLettersList(parent: Command, context: Context): void {
  parent
    .command('list')
    .description('intents nothing could find out about, and messages that could not be admitted')
    .option('--limit <n>', 'how many, 200 at most', wholeNumber(1, 200))
    .option('--cursor <cursor>', 'continue after the page before')
    .option('--json', 'print JSON')
    .action(async (_: unknown, command: Command) => {
      const options = command.optsWithGlobals<Flags & { limit?: string; cursor?: string; json?: boolean }>();
      const settings = new Settings(context, options);
      const query = queryOf({ limit: options.limit, cursor: options.cursor });
      const page = await call<Page>(settings, settings.operatorKey, 'GET', `/v1/dead-letters${query}`);
      if (options.json) return context.out(JSON.stringify(page));
      for (const line of table(page.intents, intentColumns, 'no dead intents')) context.out(line);
      context.out('');
      for (const line of table(page.messages, messageColumns, 'no dead messages')) context.out(line);
      if (page.nextCursor) context.err(`more: --cursor ${page.nextCursor}`);
    });
}
