#!/usr/bin/env node
// Development stack, services and demo in one command. Node built-ins only: it runs before the dependencies are there.
import path from 'node:path';
import { parseArgs } from 'node:util';
import { examplesText } from './setup/examples-text.mjs';
import { home, root } from './setup/paths.mjs';
import { say } from './setup/progress.mjs';
import { describeStack, runFile } from './setup/run-file.mjs';
import { startServices } from './setup/services.mjs';
import { runSession } from './setup/session.mjs';
import { startStack } from './setup/stack.mjs';
import { startUpstream } from './setup/upstream.mjs';

const usage =
  'usage: npm start [-- --exit | --no-demo]\n  --exit     stop after the demo, with its exit status\n  --no-demo  only serve';

function readFlags() {
  try {
    const { values } = parseArgs({
      options: { exit: { type: 'boolean' }, 'no-demo': { type: 'boolean' }, help: { type: 'boolean' } },
    });
    if (values.help) {
      console.log(usage);
      process.exit(0);
    }
    if (values.exit && values['no-demo']) throw new Error('--exit and --no-demo exclude each other');
    return values;
  } catch (error) {
    console.error(`${error.message}\n${usage}`);
    process.exit(2);
  }
}

async function runDemo(session, env) {
  say('demo: starting');
  const child = session.processes.start({
    name: 'demo',
    command: process.execPath,
    args: ['--enable-source-maps', path.join(root, 'dist', 'examples', 'demo.js')],
    env,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const ended = await child.exited;
  say(child.status === 0 ? 'demo: the ledger agrees with the event log' : `demo: failed (${ended})`);
  return child.status;
}

const flags = readFlags();

await runSession({
  command: 'npm start',
  stateDir: home,
  main: async (session) => {
    const run = runFile(session.stateDir);
    session.atEnd = run.remove;
    const stack = await startStack(session);
    const upstream = await startUpstream(session);
    const environment = { ...stack.environment, DEMO_UPSTREAM_URL: upstream.url };
    const about = { ...describeStack(stack), upstreamUrl: upstream.url, upstreamLedger: upstream.ledger };
    const url = await startServices(session, environment, (pid, at) => run.write({ url: at, pid, ...about }));
    if (!flags['no-demo']) {
      const status = await runDemo(session, { ...environment, RUN_FILE: run.file });
      if (flags.exit) return status;
    }
    console.log(examplesText({ url, natsUrl: stack.natsUrl, upstreamUrl: upstream.url }));
    return new Promise(() => {});
  },
});
