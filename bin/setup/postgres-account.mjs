import { execFileSync, spawnSync } from 'node:child_process';
import { StepFailure } from './step-failure.mjs';

/**
 * PostgreSQL refuses to run as root. As root: an unprivileged account of this system, `{ name, uid, gid }`; it must be
 * in the account database, because initdb looks itself up. As anyone else: undefined, nothing is switched.
 */
export function postgresAccount() {
  if (process.getuid() !== 0) return undefined;
  for (const name of ['postgres', 'nobody']) {
    const uid = idOf('-u', name);
    const gid = idOf('-g', name);
    if (uid && gid) return { name, uid, gid };
  }
  throw new StepFailure(
    'postgres',
    'it cannot run as root, and this system has neither an account `postgres` nor `nobody`',
    'run as a normal user, or set INTENDANT_DATABASE_URL',
  );
}

/** Whether the account can enter this directory: one private parent (mode 0700) is enough to keep it out. */
export function canEnter(account, directory) {
  if (!account) return true;
  const { status } = spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', directory], {
    ...identity(account),
    cwd: '/',
    stdio: 'ignore',
  });
  return status === 0;
}

/** The version the binary tells when run by the account, such as `18.4`; undefined when it does not run. */
export function versionAs(account, binary) {
  const { status, stdout } = spawnSync(binary, ['--version'], { ...identity(account), cwd: '/', encoding: 'utf8' });
  return status === 0 ? /(\d+(?:\.\d+)?)/.exec(stdout)?.[1] : undefined;
}

function identity(account) {
  return account ? { uid: account.uid, gid: account.gid } : {};
}

function idOf(flag, name) {
  try {
    return Number(execFileSync('id', [flag, name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
  } catch {
    return undefined;
  }
}
