import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { exclusively } from './claim.mjs';
import { unpackNatsPackage } from './nats-package.mjs';
import { home } from './paths.mjs';
import { say, step } from './progress.mjs';
import { StepFailure } from './step-failure.mjs';

/** 2.9 ignores `term(reason)` and refuses several filter subjects. */
const oldest = [2, 10];
const inPackage = path.join('usr', 'sbin', 'nats-server');
const cached = path.join(home, 'nats', inPackage);
/** What Debian 12 installs: 2.9.10. */
const old = { suite: 'bookworm', directory: path.join(home, 'nats-2.9') };
// Debian puts servers into /usr/sbin, outside a normal user's PATH.
const places = [
  cached,
  'nats-server',
  '/usr/sbin/nats-server',
  '/usr/local/bin/nats-server',
  '/opt/homebrew/bin/nats-server',
  '/home/linuxbrew/.linuxbrew/bin/nats-server',
];

/** Path of a nats-server that is new enough: a given one, a found one, or Debian's package unpacked into this clone. */
export function ensureNatsBinary(session) {
  return step('nats-server', async (note) => {
    const given = session.settings.INTENDANT_NATS_BIN;
    const found = given ? useGiven(given) : (places.find(fits) ?? (await unpacked(session)));
    note(
      `${versionOf(found)?.join('.')} (${path.relative(process.cwd(), found).startsWith('..') ? found : path.relative(process.cwd(), found)})`,
    );
    return found;
  });
}

function useGiven(given) {
  if (fits(given)) return given;
  const version = versionOf(given);
  const why = version ? `is version ${version.join('.')}, ${oldest.join('.')} or later is needed` : 'does not run';
  throw new StepFailure(
    'nats-server',
    `INTENDANT_NATS_BIN (${given}) ${why}`,
    'correct INTENDANT_NATS_BIN, or unset it',
  );
}

/**
 * Path of Debian 12's nats-server, which the fault rig runs the services on, too; null, with the reason said, where it
 * cannot be had.
 */
export function ensureOldNatsBinary(session) {
  return step('nats-server of Debian 12', async (note) => {
    const given = session.settings.INTENDANT_OLD_NATS_BIN;
    const binary = given ?? path.join(old.directory, inPackage);
    if (given && !versionOf(given)) {
      throw new StepFailure(
        'nats-server',
        `INTENDANT_OLD_NATS_BIN (${given}) does not run`,
        'correct INTENDANT_OLD_NATS_BIN, or unset it',
      );
    }
    const why = given ? undefined : await unpackOld(session, binary);
    note(why ? `not tested with: ${why}` : versionOf(binary).join('.'));
    return why ? null : binary;
  });
}

/** Returns why there is none. */
async function unpackOld(session, binary) {
  try {
    await unpackOnce(session, old.directory, () => versionOf(binary) !== undefined, old.suite);
    return versionOf(binary) ? undefined : 'the unpacked package does not run on this system';
  } catch (error) {
    if (session.processes.stopping || !(error instanceof StepFailure)) throw error;
    return error.why;
  }
}

async function unpacked(session) {
  await unpackOnce(session, path.join(home, 'nats'), () => fits(cached));
  if (fits(cached)) return cached;
  throw new StepFailure(
    'nats-server',
    'the unpacked package does not run on this system',
    `install nats-server ${oldest.join('.')} or later, or name one in INTENDANT_NATS_BIN`,
  );
}

/** Unpacks the package of a Debian release unless it is there, also when several commands want it at once. */
async function unpackOnce(session, directory, isThere, suite) {
  const work = async () => {
    if (isThere()) return;
    say(`nats-server: none found, unpacking the Debian package into ${path.relative(process.cwd(), directory)}`);
    await unpackNatsPackage(session, directory, suite);
  };
  await exclusively(`${directory}.lock`, work, (holder) => say(`nats-server: waiting for process ${holder}`));
}

function fits(binary) {
  const version = versionOf(binary);
  return version !== undefined && (version[0] > oldest[0] || (version[0] === oldest[0] && version[1] >= oldest[1]));
}

function versionOf(binary) {
  const { status, stdout } = spawnSync(binary, ['--version'], { encoding: 'utf8', timeout: 10_000 });
  const match = status === 0 ? /v(\d+)\.(\d+)\.(\d+)/.exec(stdout) : null;
  return match ? match.slice(1).map(Number) : undefined;
}
