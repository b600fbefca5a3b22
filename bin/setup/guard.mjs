import fs from 'node:fs';
import path from 'node:path';
import { readJson, root } from './paths.mjs';
import { say } from './progress.mjs';
import { withoutOurs } from './settings.mjs';

const boundMs = 180_000;

/**
 * Runs the short bench that guards the ratios, on servers of its own: those of the tests do not sync, and that would
 * be to the advantage of whoever commits most. Returns `{ passed, failed, skipped }` as the tests do; a machine that is
 * too busy to judge on counts as skipped.
 */
export async function runGuard(session, natsBinary) {
  const why = whyNot(session.settings);
  if (why) {
    say(`bench: skipped, ${why}`);
    return { passed: 0, failed: 0, skipped: 1 };
  }
  say('bench: starting');
  const file = path.join(session.stateDir, 'guard.json');
  fs.rmSync(file, { force: true });
  const { INTENDANT_PG_BIN } = session.settings;
  const child = session.processes.start({
    name: 'guard',
    command: process.execPath,
    args: [path.join(root, 'bin', 'bench.mjs'), '--guard', '--json', file],
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
  if (child.status !== 0) return { passed: 0, failed: 1, skipped: 0 };
  const judged = readJson(file)?.verdict === 'kept';
  return { passed: Number(judged), failed: 0, skipped: Number(!judged) };
}

function whyNot({ INTENDANT_TEST_DATABASE_URL }) {
  if (process.platform !== 'linux') return 'CPU time is read from /proc, which only Linux has';
  if (INTENDANT_TEST_DATABASE_URL)
    return 'it needs a PostgreSQL of its own, and INTENDANT_TEST_DATABASE_URL names another';
  return undefined;
}
