import fs from 'node:fs';
import path from 'node:path';
import { readJson, root } from './paths.mjs';
import { withoutOurs } from './settings.mjs';

/**
 * Runs another command of the launcher to its end, on servers of its own: those of the tests do not sync. It writes a
 * JSON file with `--json`. Returns `{ status, report }`, the report undefined when there is none.
 */
export async function runNested(session, { name, args, natsBinary, boundMs }) {
  const file = path.join(session.stateDir, `${name}.json`);
  fs.rmSync(file, { force: true });
  const { INTENDANT_PG_BIN } = session.settings;
  const [command, ...rest] = args;
  const child = session.processes.start({
    name,
    command: process.execPath,
    args: [path.join(root, 'bin', command), ...rest, '--json', file],
    env: {
      ...withoutOurs(session.settings),
      INTENDANT_NATS_BIN: natsBinary,
      ...(INTENDANT_PG_BIN && { INTENDANT_PG_BIN }),
    },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const timer = setTimeout(() => void session.processes.stop(child), boundMs);
  await child.exited;
  clearTimeout(timer);
  return { status: child.status, report: readJson(file) };
}
