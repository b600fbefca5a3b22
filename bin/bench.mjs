#!/usr/bin/env node
// The benchmark on a private PostgreSQL (with fsync) and NATS of its own; arguments are passed on.
import path from 'node:path';
import { ensurePeers } from './setup/dependencies.mjs';
import { home, root } from './setup/paths.mjs';
import { describeStack, runFile } from './setup/run-file.mjs';
import { runSession } from './setup/session.mjs';
import { startStack } from './setup/stack.mjs';

// The short bench of npm test must not be refused because somebody measures in this clone meanwhile.
const stateDir = path.join(home, process.argv.includes('--guard') ? 'guard' : 'bench');

await runSession({
  command: 'npm run bench',
  stateDir,
  main: async (session) => {
    const run = runFile(session.stateDir);
    session.atEnd = run.remove;
    // Rows of earlier runs would slow this one.
    const stack = await startStack(session, { fresh: true });
    if (process.argv.includes('--peers')) await ensurePeers(session);
    run.write(describeStack(stack));
    const child = session.processes.start({
      name: 'bench',
      command: process.execPath,
      args: ['--enable-source-maps', path.join(root, 'dist', 'bench', 'main.js'), ...process.argv.slice(2)],
      env: { ...stack.environment, RUN_FILE: run.file },
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    await child.exited;
    return child.status;
  },
});
