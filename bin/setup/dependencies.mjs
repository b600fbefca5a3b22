import path from 'node:path';
import { exclusively } from './claim.mjs';
import { home, readJson, root } from './paths.mjs';
import { say, step } from './progress.mjs';

/** Installs the locked dependencies unless exactly these are installed already. */
export function ensureDependencies(session) {
  return ensureInstalled(session, 'dependencies', root, ['--include=dev']);
}

/** The same for the systems that the benchmark compares with: none of their install scripts has to run. */
export function ensurePeers(session) {
  return ensureInstalled(session, 'peers', path.join(root, 'bench', 'peers'), ['--ignore-scripts']);
}

function ensureInstalled(session, name, directory, options) {
  const work = (note) =>
    exclusively(
      path.join(home, 'install.lock'),
      async () => {
        if (installedAsLocked(directory)) return note('as locked');
        say(`${name}: npm ci (a minute on the first run)`);
        // npm takes its time over SIGTERM, and an install cut short is noticed by the next run.
        const run = { name: `npm-ci-${name}`, label: 'npm ci', cwd: directory, signal: 'SIGKILL' };
        await session.processes.run({ ...npmCommand(options), ...run });
        note('installed');
      },
      (holder) => say(`${name}: waiting for process ${holder}, which installs them`),
    );
  return step(name, work, 'read the message of npm above; check the network and the free disk space');
}

/**
 * Compares the lock file with the one npm leaves in node_modules as the last act of an install. A stamp of our own
 * would be wrong after `npm install` and a later checkout of another lock file.
 */
export function installedAsLocked(directory = root) {
  const locked = readJson(path.join(directory, 'package-lock.json'))?.packages;
  const installed = readJson(path.join(directory, 'node_modules', '.package-lock.json'))?.packages;
  if (!locked || !installed) return false;
  const names = Object.keys(locked).filter((name) => name !== '');
  return (
    names.every((name) => same(locked[name], installed[name])) && Object.keys(installed).every((name) => name in locked)
  );
}

function same(locked, installed) {
  if (!installed) return locked.optional === true && !fitsThisMachine(locked);
  return locked.version === installed.version && locked.integrity === installed.integrity;
}

/** npm leaves optional packages of other platforms out; one with a `libc` is not worth guessing. */
function fitsThisMachine({ os, cpu, libc }) {
  if (libc) return false;
  return (!os || os.includes(process.platform)) && (!cpu || cpu.includes(process.arch)) && Boolean(os || cpu);
}

function npmCommand(options) {
  const args = ['ci', ...options, '--no-audit', '--no-fund', '--loglevel=error'];
  const cli = process.env.npm_execpath;
  // The npm that runs this script, which may not be the first on PATH.
  return cli && path.basename(cli) === 'npm-cli.js'
    ? { command: process.execPath, args: [cli, ...args] }
    : { command: 'npm', args };
}
