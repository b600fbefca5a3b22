import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { ensureNatsBinary, ensureOldNatsBinary } from './nats-binary.mjs';
import { root } from './paths.mjs';
import { postgresAccount } from './postgres-account.mjs';
import { postgresBinaries } from './postgres-binaries.mjs';
import { postgresHome } from './postgres-home.mjs';
import { step } from './progress.mjs';

/** What the fault rig finds on this machine, as `Machine` of faults/machine.ts. Call it once the dependencies are there. */
export async function describeMachine(session) {
  const postgres = await findPostgres(session);
  const nats = await ensureNatsBinary(session);
  const oldNats = await ensureOldNatsBinary(session);
  return { ...postgres, nats, oldNats, stateDir: session.stateDir, commit: commit() };
}

function findPostgres(session) {
  return step('postgres', async (note) => {
    const account = postgresAccount();
    const { bin, version } = postgresBinaries(session.settings, account);
    const home = postgresHome(session.stateDir, account);
    removeLeftData(home);
    note(`${version}${account ? `, runs as ${account.name}` : ''}`);
    return {
      postgresBin: bin,
      postgresAccount: account ? { uid: account.uid, gid: account.gid } : null,
      postgresHome: home,
    };
  });
}

/** A rig that was killed could not remove the data of its servers; these have been ended when the session began. */
function removeLeftData(home) {
  for (const name of fs.readdirSync(home)) {
    if (name.startsWith('data-')) fs.rmSync(path.join(home, name), { recursive: true, force: true });
  }
}

/** Null outside a clone. */
function commit() {
  const { status, stdout } = spawnSync('git', ['describe', '--always', '--dirty'], { cwd: root, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : null;
}
