import type { Command } from 'commander';
import { call, queryOf } from '../client.js';
import { type Flags, Settings } from '../config.js';
import type { Context } from '../context.js';
import { type Columns, table } from '../table.js';

interface ToolLine {
  readonly name: string;
  readonly version: number;
  readonly effect: string;
  readonly description: string;
}

const columns: Columns<ToolLine> = {
  TOOL: (t) => t.name,
  VERSION: (t) => t.version,
  EFFECT: (t) => t.effect,
  DESCRIPTION: (t) => t.description.split('\n')[0]?.slice(0, 80) ?? null,
};

export function addToolsList(parent: Command, context: Context): void {
  parent
    .command('list')
    .description('the tools that the run may call, as its model may see them')
    .option('--query <words>', 'in the name or the description')
    .option('--namespace <words>', 'first words of the name')
    .option('--json', 'print JSON')
    .action(async (_: unknown, command: Command) => {
      const options = command.optsWithGlobals<Flags & { query?: string; namespace?: string; json?: boolean }>();
      const settings = new Settings(context, options);
      const query = queryOf({ query: options.query, namespace: options.namespace });
      const answer = await call<{ tools: ToolLine[] }>(settings, settings.token, 'GET', `/v1/tools${query}`);
      if (options.json) return context.out(JSON.stringify(answer));
      for (const line of table(answer.tools, columns, 'no tools that this run may call')) context.out(line);
    });
}
