import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { Command } from 'commander';
import { call } from '../client.js';
import { type Flags, Settings } from '../config.js';
import type { Context } from '../context.js';
import { CommandFailed } from '../errors.js';

export function addReconcile(parent: Command, context: Context): void {
  parent
    .command('reconcile')
    .description('one pass of every sweeper, and what each of them found and did')
    .option('--once', 'run it here, without any service: for cron')
    .action(async (_: unknown, command: Command) => {
      const options = command.optsWithGlobals<Flags & { once?: boolean }>();
      const settings = new Settings(context, options);
      if (options.once) return runHere(context, settings);
      context.out(JSON.stringify(await call(settings, settings.operatorKey, 'POST', '/v1/reconcile')));
    });
}

/** Needs the database and the tool files only, so it works when nothing else does. */
async function runHere(context: Context, settings: Settings): Promise<void> {
  const { reconciler, out, err } = context;
  if (!existsSync(reconciler)) throw new CommandFailed('The reconciler is not built yet. Run `npm run build`.');
  const child = spawn(process.execPath, ['--enable-source-maps', reconciler, '--once'], {
    env: settings.serviceEnvironment as NodeJS.ProcessEnv,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  forward(child.stdout, out);
  forward(child.stderr, err);
  const [status]: unknown[] = await once(child, 'close');
  if (status !== 0) context.failed();
}

function forward(stream: Readable, write: (line: string) => void): void {
  createInterface({ input: stream }).on('line', write);
}
