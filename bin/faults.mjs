#!/usr/bin/env node
// The fault rig. It starts servers of its own, many times; here it gets what they are made of. Arguments are passed on.
import fs from 'node:fs';
import path from 'node:path';
import { ensureBuild } from './setup/build.mjs';
import { ensureDependencies } from './setup/dependencies.mjs';
import { describeMachine } from './setup/faults-machine.mjs';
import { home, root } from './setup/paths.mjs';
import { runFile } from './setup/run-file.mjs';
import { runSession } from './setup/session.mjs';
import { withoutOurs } from './setup/settings.mjs';

// Neither the short run of npm test nor a look at reports must be refused because a long one is going on in this clone.
const given = (...options) => process.argv.some((each) => options.includes(each.split('=')[0]));
const looks = given('--help', '-h', '--list', '--judge', '--add-up');
const apart = given('--short') ? '-short' : looks ? '-looking' : '';
const main = path.join(root, 'dist', 'faults', 'main.js');
const stateDir = path.join(home, `faults${apart}`);

await runSession({
  command: 'npm run faults',
  stateDir,
  main: async (session) => {
    const run = runFile(session.stateDir);
    session.atEnd = run.remove;
    const installed = ensureDependencies(session);
    const [machine] = await Promise.all([
      installed.then(() => describeMachine(session)),
      // A run that goes on starts its services from what is built.
      installed.then(() => (looks && fs.existsSync(main) ? undefined : ensureBuild(session))),
    ]);
    run.write(machine);
    const child = session.processes.start({
      name: 'faults',
      command: process.execPath,
      args: ['--enable-source-maps', main, ...process.argv.slice(2)],
      env: { ...withoutOurs(session.settings), RUN_FILE: run.file },
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    await child.exited;
    return child.status;
  },
});
