import fs from 'node:fs';
import path from 'node:path';
import { root } from './paths.mjs';
import { step } from './progress.mjs';
import { endRunWith } from './required.mjs';
import { until } from './waiting.mjs';

const boundMs = 15_000;

/** Starts the demo upstream, whose ledger stays over runs as the event log does. Returns `{ url, ledger }`. */
export function startUpstream(session) {
  return step('demo upstream', async (note) => {
    const given = session.settings.DEMO_UPSTREAM_URL;
    if (given) {
      note(`${given} (DEMO_UPSTREAM_URL)`);
      return { url: given };
    }
    const ledger = path.join(session.stateDir, 'demo-ledger.jsonl');
    const child = session.processes.start({
      name: 'upstream',
      command: process.execPath,
      args: ['--enable-source-maps', path.join(root, 'dist', 'examples', 'upstream', 'main.js')],
      env: { ...session.settings, DEMO_UPSTREAM_PORT: session.settings.DEMO_UPSTREAM_PORT ?? '0', DEMO_LEDGER: ledger },
    });
    const what = 'the demo upstream';
    const url = await until(() => announced(child.logFile), { boundMs, child, what }).catch((error) => {
      throw new Error(`${error.message}; see ${child.logFile}`);
    });
    endRunWith(session, child);
    note(url);
    return { url, ledger };
  });
}

/** It tells its address in one JSON line. */
function announced(logFile) {
  const line = fs
    .readFileSync(logFile, 'utf8')
    .split('\n')
    .find((each) => each.startsWith('{"listening"'));
  try {
    return line && JSON.parse(line).listening;
  } catch {
    // Half a line: the rest is still being written.
    return undefined;
  }
}
