import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { writePrivateFile } from './paths.mjs';
import { StepFailure } from './step-failure.mjs';

/**
 * Makes the data directory on the first run, with password authentication for everyone, and returns it.
 * `fresh` throws away what is there.
 */
export async function ensureData({ session, home, binaries, account, password, fresh }) {
  const data = path.join(home, 'data');
  const owner = path.join(home, 'owner');
  const hash = createHash('sha256').update(password).digest('hex');
  if (fresh || !fs.existsSync(data) || !madeWith(owner, hash, home, session.stateDir)) {
    fs.rmSync(data, { recursive: true, force: true });
    await initialise({ session, home, data, binaries, account, password, fresh });
    writePrivateFile(owner, hash);
  }
  checkMajor(data, binaries.version);
  dropStalePid(data);
  return data;
}

/**
 * A data directory outside the clone outlives it; one made for an earlier clone at the same path has another password
 * and is not ours to show. Inside the clone, data is never thrown away.
 */
function madeWith(owner, hash, home, stateDir) {
  if (fs.existsSync(owner) && fs.readFileSync(owner, 'utf8') === hash) return true;
  if (path.relative(stateDir, home).startsWith('..')) return false;
  throw new StepFailure(
    'postgres',
    `the password of ${home} is not the one in credentials.json`,
    `restore credentials.json, or remove ${home} and lose the development data in it`,
  );
}

async function initialise({ session, home, data, binaries, account, password, fresh }) {
  // initdb fills a directory of another name, so that one cut short is never taken for a finished one.
  const partial = `${data}.partial`;
  const passwordFile = path.join(home, 'password');
  fs.rmSync(partial, { recursive: true, force: true });
  fs.mkdirSync(partial, { mode: 0o700 });
  writePrivateFile(passwordFile, `${password}\n`);
  if (account) for (const each of [partial, passwordFile]) fs.chownSync(each, account.uid, account.gid);
  const args = [
    '-D',
    partial,
    '-U',
    'postgres',
    '-A',
    'scram-sha-256',
    '--pwfile',
    passwordFile,
    '-E',
    'UTF8',
    '--no-locale',
  ];
  try {
    await session.processes.run({
      name: 'initdb',
      command: path.join(binaries.bin, 'initdb'),
      args: fresh ? [...args, '--no-sync'] : args,
      env: postgresEnvironment(),
      cwd: '/',
      account,
      boundMs: 120_000,
    });
  } finally {
    fs.rmSync(passwordFile, { force: true });
  }
  fs.renameSync(partial, data);
}

/** PG* variables of the user's shell must not reach a private server. */
export function postgresEnvironment() {
  const { PATH = '/usr/bin:/bin', LD_LIBRARY_PATH, DYLD_LIBRARY_PATH } = process.env;
  const environment = { PATH, LD_LIBRARY_PATH, DYLD_LIBRARY_PATH, HOME: '/', LC_ALL: 'C', TZ: 'UTC' };
  return Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== undefined));
}

function checkMajor(data, version) {
  const made = fs.readFileSync(path.join(data, 'PG_VERSION'), 'utf8').trim();
  const major = String(Number.parseInt(version, 10));
  if (made === major) return;
  throw new StepFailure(
    'postgres',
    `the data in ${data} was made by PostgreSQL ${made}, the binaries are ${major}`,
    `remove ${path.dirname(data)} and lose the development data in it, or name PostgreSQL ${made} in INTENDANT_PG_BIN`,
  );
}

/** After a SIGKILL the pid file stays; PostgreSQL refuses to start when its number meanwhile belongs to anyone else. */
function dropStalePid(data) {
  if (process.platform !== 'linux') return;
  const file = path.join(data, 'postmaster.pid');
  if (!fs.existsSync(file)) return;
  const pid = fs.readFileSync(file, 'utf8').split('\n')[0];
  let directory;
  try {
    directory = fs.readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    directory = undefined;
  }
  if (directory !== fs.realpathSync(data)) return fs.rmSync(file);
  throw new StepFailure('postgres', `process ${pid} already serves ${data}`, `stop it with: kill -INT ${pid}`);
}
