import type { ResultPage } from '@intendant/contracts';
import type { Command } from 'commander';
import { call, queryOf } from '../client.js';
import { type Flags, Settings } from '../config.js';
import type { Context } from '../context.js';
import { printable } from '../table.js';

interface Options extends Flags {
  readonly pointer?: string;
  readonly cursor?: string;
  readonly limit?: string;
  readonly json?: boolean;
}

export function addResultsRead(parent: Command, context: Context): void {
  parent
    .command('read')
    .description('a page of data that was too large to be shown in a result')
    .argument('<handle>', 'handle of the result, as submit and intents show print it')
    .option('--pointer <pointer>', 'JSON Pointer into the data, such as /items/0')
    .option('--cursor <cursor>', 'where the page begins, as the page before said')
    .option('--limit <number>', 'items or members at most, 20 without it and up to 100, or as the tool says')
    .option('--json', 'print JSON')
    .action(async (handle: string, _: unknown, command: Command) => {
      const options = command.optsWithGlobals<Options>();
      const settings = new Settings(context, options);
      const { pointer, cursor, limit } = options;
      const path = `/v1/results/${encodeURIComponent(handle)}${queryOf({ pointer, cursor, limit })}`;
      const page = await call<ResultPage>(settings, settings.anyCredential, 'GET', path);
      if (options.json) return context.out(JSON.stringify(page));
      for (const line of describe(page)) context.out(line);
    });
}

function describe({ tool, pointer, kind, data, total, omitted, nextCursor, warning }: ResultPage): string[] {
  return [
    `${tool}  ${kind} at ${pointer === '' ? 'the root' : printable(pointer)}${total === null ? '' : `, ${total} in all`}`,
    ...(warning ? [`warning ${printable(warning)}`] : []),
    ...(Array.isArray(data) ? data : [data]).map((item) => printable(JSON.stringify(item))),
    ...omitted.map((part) => `omitted ${printable(part.pointer)}: ${printable(part.what)}`),
    ...(nextCursor === null ? [] : [`next    --cursor ${nextCursor}`]),
  ];
}
