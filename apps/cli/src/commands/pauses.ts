import type { Pause, PauseScope } from '@intendant/contracts';
import type { Command } from 'commander';
import { call } from '../client.js';
import { type Flags, Settings } from '../config.js';
import type { Context } from '../context.js';
import { type Columns, table } from '../table.js';

const columns: Columns<Pause> = {
  PAUSE: (pause) => pause.id,
  SCOPE: scopeOf,
  UNTIL: (pause) => pause.until,
  SINCE: (pause) => pause.since,
  BY: (pause) => pause.author,
  REASON: (pause) => pause.reason,
};

export function addPauses(parent: Command, context: Context): void {
  parent
    .command('pauses')
    .description('what is paused')
    .option('--json', 'print JSON')
    .action(async (_: unknown, command: Command) => {
      const options = command.optsWithGlobals<Flags & { json?: boolean }>();
      const settings = new Settings(context, options);
      const answer = await call<{ items: readonly Pause[] }>(settings, settings.operatorKey, 'GET', '/v1/pauses');
      if (options.json) return context.out(JSON.stringify(answer));
      for (const line of table(answer.items, columns, 'nothing is paused')) context.out(line);
    });
}

/** Such as `tool payments.refund.create of tenant acme`. */
export function scopeOf({ tenant, tool, namespace, upstream }: PauseScope): string {
  const parts = Object.entries({ tool, namespace, upstream }).flatMap(([name, value]) =>
    value === null ? [] : [`${name} ${value}`],
  );
  const what = parts.length > 0 ? parts.join(' and ') : 'everything';
  return tenant === null ? what : `${what} of tenant ${tenant}`;
}
