import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { debianArchive } from './apt-sources.mjs';
import { StepFailure } from './step-failure.mjs';

/** The first Debian release with nats-server 2.10; its package needs libc6 2.34 only, so Debian 12 runs it too. */
const firstSuite = 'trixie';
const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg';
const advice = 'install nats-server 2.10 or later, or name one in INTENDANT_NATS_BIN, or use `docker compose up`';
const boundMs = 180_000;

/**
 * Downloads Debian's nats-server package and unpacks it (nothing is installed) into `target`. apt works on a state of
 * its own: the system's lists and cache are not touched, and no root is needed. `suite` is the Debian release it comes from.
 */
export async function unpackNatsPackage(session, target, suite = firstSuite) {
  const archive = debianArchive();
  if (!archive) {
    throw new StepFailure('nats-server', 'not found, and this system has no Debian archive to take it from', advice);
  }
  const apt = `${target}.apt`;
  const partial = `${target}.partial`;
  for (const directory of [apt, partial]) fs.rmSync(directory, { recursive: true, force: true });
  for (const directory of ['state/lists/partial', 'cache/archives/partial', 'parts']) {
    fs.mkdirSync(path.join(apt, directory), { recursive: true });
  }
  fs.writeFileSync(path.join(apt, 'state', 'status'), '');
  fs.writeFileSync(path.join(apt, 'nats.sources'), sourceStanza(archive, suite));
  const run = (name, command, args) => session.processes.run({ name, command, args, cwd: apt, boundMs });
  try {
    await run('apt-update', 'apt-get', [...options(apt), 'update']);
    await run('apt-download', 'apt-get', [...options(apt), 'download', 'nats-server']);
    const file = fs.readdirSync(apt).find((name) => /^nats-server_.*\.deb$/.test(name));
    if (!file) throw new Error('apt-get downloaded no package');
    await run('dpkg-deb', 'dpkg-deb', ['-x', path.join(apt, file), partial]);
    fs.rmSync(target, { recursive: true, force: true });
    fs.renameSync(partial, target);
  } catch (error) {
    throw new StepFailure('nats-server', `not found, and unpacking Debian's package failed: ${error.message}`, advice);
  } finally {
    for (const directory of [apt, partial]) fs.rmSync(directory, { recursive: true, force: true });
  }
}

function sourceStanza({ uri, signedBy = fs.existsSync(keyring) ? keyring : undefined }, suite) {
  const lines = ['Types: deb', `URIs: ${uri}`, `Suites: ${suite}`, 'Components: main'];
  // A key written into the list itself spans lines: continuation lines start with a space.
  if (signedBy) lines.push(`Signed-By: ${signedBy.replaceAll('\n', '\n ')}`);
  return `${lines.join('\n')}\n`;
}

function options(apt) {
  const settings = {
    'Dir::Etc::sourcelist': `${apt}/nats.sources`,
    'Dir::Etc::sourceparts': `${apt}/parts`,
    'Dir::State': `${apt}/state`,
    'Dir::State::status': `${apt}/state/status`,
    'Dir::Cache': `${apt}/cache`,
    // As root apt would drop to an account that may not enter this directory.
    'APT::Sandbox::User': os.userInfo().username,
    'Acquire::Languages': 'none',
    'Acquire::http::Timeout': '20',
    'Acquire::https::Timeout': '20',
    'Acquire::Retries': '2',
  };
  return ['-q', ...Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`])];
}
