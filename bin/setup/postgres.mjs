import fs from 'node:fs';
import path from 'node:path';
import { canConnect } from './database.mjs';
import { postgresAccount } from './postgres-account.mjs';
import { postgresBinaries } from './postgres-binaries.mjs';
import { ensureData, postgresEnvironment } from './postgres-data.mjs';
import { postgresHome } from './postgres-home.mjs';
import { step } from './progress.mjs';
import { endRunWith } from './required.mjs';
import { freePort, until } from './waiting.mjs';

const startBoundMs = 60_000;
const tries = 3;

/**
 * Starts the private PostgreSQL of this state directory: 127.0.0.1 only, free port, no Unix socket, passwords for
 * everyone. `throwAway` means data of one run, without fsync; else the data stays and every commit is synced.
 * Returns `{ url, pid }`, the URL being the superuser's on the database `postgres`.
 */
export function startPostgres(session, { password, throwAway = false }) {
  return step('postgres', async (note) => {
    const account = postgresAccount();
    const binaries = postgresBinaries(session.settings, account);
    const home = postgresHome(session.stateDir, account);
    const data = await ensureData({ session, home, binaries, account, password, fresh: throwAway });
    for (let attempt = 1; ; attempt += 1) {
      const started = await start({ session, data, binaries, account, password, throwAway });
      if (started.url) {
        endRunWith(session, started.child);
        note(`${binaries.version} on port ${started.port}${account ? ` as ${account.name}` : ''}`);
        return { url: started.url, pid: started.child.pid };
      }
      // Another process may have taken the port between looking and binding.
      if (attempt === tries || !/Address already in use/.test(fs.readFileSync(started.child.logFile, 'utf8'))) {
        throw new Error(`${started.error.message}; see ${started.child.logFile}`);
      }
    }
  });
}

async function start({ session, data, binaries, account, password, throwAway }) {
  const port = await freePort();
  const child = session.processes.start({
    name: 'postgres',
    command: path.join(binaries.bin, 'postgres'),
    args: ['-D', data, '-p', String(port), ...options(throwAway, binaries)],
    env: postgresEnvironment(),
    cwd: '/',
    account,
    // SIGINT is the fast shutdown: open sessions are ended. SIGTERM would wait for them.
    signal: 'SIGINT',
    stopLast: true,
  });
  const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
  try {
    await until(() => canConnect(url), { boundMs: startBoundMs, child, what: 'PostgreSQL' });
    return { url, port, child };
  } catch (error) {
    await session.processes.stop(child);
    return { error, child };
  }
}

function options(throwAway, { bin }) {
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '300',
    timezone: 'UTC',
    log_timezone: 'UTC',
    fsync: throwAway ? 'off' : 'on',
    full_page_writes: throwAway ? 'off' : 'on',
    ...(throwAway && canCountStatements(bin) && countedStatements),
  };
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/** The tests count statements (test/cost). Those of all test databases have to fit, or the rare ones are forgotten. */
const countedStatements = { shared_preload_libraries: 'pg_stat_statements', 'pg_stat_statements.max': '20000' };

/** Binaries of the user's choice may come without it, and then the server would not start. */
function canCountStatements(bin) {
  const folders = ['../lib/postgresql', '../lib'].map((each) => path.join(bin, each));
  return folders.some((folder) =>
    ['so', 'dylib'].some((end) => fs.existsSync(path.join(folder, `pg_stat_statements.${end}`))),
  );
}
