import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { exclusively } from './claim.mjs';
import { unpackNatsPackage } from './nats-package.mjs';
import { home } from './paths.mjs';
import { say, step } from './progress.mjs';
import { StepFailure } from './step-failure.mjs';

/** 2.9 ignores `term(reason)` and refuses several filter subjects. */
const oldest = [2, 10];
const cached = path.join(home, 'nats', 'usr', 'sbin', 'nats-server');
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

async function unpacked(session) {
  const work = async () => {
    if (fits(cached)) return;
    say('nats-server: none found, unpacking the Debian package into this clone');
    await unpackNatsPackage(session, path.join(home, 'nats'));
  };
  await exclusively(path.join(home, 'nats.lock'), work, (holder) => say(`nats-server: waiting for process ${holder}`));
  if (fits(cached)) return cached;
  throw new StepFailure(
    'nats-server',
    'the unpacked package does not run on this system',
    `install nats-server ${oldest.join('.')} or later, or name one in INTENDANT_NATS_BIN`,
  );
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
