import path from 'node:path';
import { claim } from './claim.mjs';
import { checkNodeVersion } from './node-version.mjs';
import { ensureDirectory, home, readJson } from './paths.mjs';
import { Processes } from './processes.mjs';
import { say } from './progress.mjs';
import { readSettings } from './settings.mjs';
import { StepFailure } from './step-failure.mjs';

const exitStatus = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };
/** npm passes on a Ctrl-C that the terminal has already delivered: only a later one means impatience. */
const repeatedSignalMs = 1_000;

/**
 * Runs one launcher command from its claim to its end: one at a time per state directory, leftovers of a killed run
 * stopped first, everything it started stopped last, a failure explained. `main(session)` returns the exit status;
 * the session has `stateDir`, `processes`, `settings` and `fail(error)`, which ends the run from outside `main`.
 */
export async function runSession({ command, stateDir, main }) {
  let session;
  let release;
  try {
    checkNodeVersion();
    ensureDirectory(home);
    release = claimOrExplain(command, ensureDirectory(stateDir));
    session = await openSession(stateDir);
    const status = await Promise.race([main(session), session.failed]);
    if (!session.processes.stopping) await finish(session, status);
  } catch (error) {
    // While stopping, steps fail because their processes end: that is no news.
    if (session?.processes.stopping) return;
    console.error(error instanceof StepFailure ? `\n${error}` : `\n✗ ${command}: ${error?.message ?? error}`);
    await finish(session, 1);
  }

  async function finish(current, status) {
    await current?.processes.stopAll();
    await current?.atEnd?.();
    release?.();
    process.exit(status);
  }

  async function openSession(directory) {
    const processes = new Processes(directory);
    const opened = { stateDir: directory, processes, settings: readSettings() };
    opened.failed = new Promise((_, reject) => {
      opened.fail = reject;
    });
    for (const signal of Object.keys(exitStatus)) process.on(signal, onSignal(opened, signal));
    // Whoever read what we say has gone, as `| head` does: without a listener that would end us and leave our processes.
    for (const output of [process.stdout, process.stderr]) {
      output.on('error', () => {
        if (!processes.stopping) void finish(opened, 1);
      });
    }
    const ended = await processes.stopLeftovers();
    if (ended.length > 0) say(`stopped what an earlier run had left: ${ended.join(', ')}`);
    return opened;
  }

  function onSignal(current, signal) {
    let first;
    return () => {
      if (!current.processes.stopping) {
        first = performance.now();
        say(`${signal}: stopping`);
        void finish(current, exitStatus[signal]);
      } else if (first !== undefined && performance.now() - first > repeatedSignalMs) {
        void current.processes.killAll();
      }
    };
  }
}

function claimOrExplain(command, stateDir) {
  const { release, holder } = claim(path.join(stateDir, 'lock'));
  if (release) return release;
  const url = readJson(path.join(stateDir, 'run.json'))?.url;
  const where = url ? ` and serves ${url}` : '';
  throw new StepFailure(
    command,
    `already runs in this clone (process ${holder})${where}`,
    'use that one, or stop it with Ctrl-C first',
  );
}
