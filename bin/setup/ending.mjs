import fs from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { identityOf } from './identity.mjs';

const pollMs = 25;
const afterKillMs = 5_000;

/** Environment variable that marks everything a launcher started, however deep. */
export const markName = 'LAUNCHED_BY';

/**
 * Ends one process that leads its own group: the polite signal first, SIGKILL for the whole group after `graceMs`.
 * Does nothing when the number meanwhile belongs to another process. Resolves when the process is gone.
 */
export async function endProcess({ pid, identity, signal = 'SIGTERM' }, graceMs = 10_000) {
  if (identity === undefined || identityOf(pid) !== identity) return;
  send(pid, signal);
  if (!(await goneWithin({ pid, identity }, graceMs))) {
    send(-pid, 'SIGKILL');
    send(pid, 'SIGKILL');
    await goneWithin({ pid, identity }, afterKillMs);
  }
  // Whatever the leader left behind in its group: helpers of npm, workers of the test runner.
  send(-pid, 'SIGKILL');
}

/**
 * Kills what carries the mark and was not ended with its leader: processes that made a group of their own. Their children
 * are killed as well: those of PostgreSQL write their title over their environment, and while they are stopped by a signal
 * they do not notice that their parent is gone.
 */
export async function endMarked(mark) {
  const left = withChildren(marked(mark));
  for (const { pid } of left) send(pid, 'SIGKILL');
  await Promise.all(left.map((each) => goneWithin(each, afterKillMs)));
  return left.length;
}

function marked(mark) {
  if (process.platform !== 'linux' || !mark) return [];
  const wanted = `${markName}=${mark}`;
  return fs
    .readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid && carries(name, wanted))
    .map(Number);
}

function withChildren(pids) {
  const numbers = new Set(pids.flatMap((pid) => [pid, ...childrenOf(pid)]));
  numbers.delete(process.pid);
  return [...numbers].map((pid) => ({ pid, identity: identityOf(pid) })).filter((each) => each.identity !== undefined);
}

function childrenOf(pid) {
  try {
    return fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    // Gone meanwhile, or a kernel that does not list them.
    return [];
  }
}

function carries(pid, wanted) {
  try {
    return fs.readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(wanted);
  } catch {
    // Gone meanwhile, or of another account: not ours.
    return false;
  }
}

async function goneWithin({ pid, identity }, boundMs) {
  const deadline = performance.now() + boundMs;
  while (identityOf(pid) === identity) {
    if (performance.now() > deadline) return false;
    await delay(pollMs);
  }
  return true;
}

function send(pid, signal) {
  try {
    process.kill(pid, signal);
  } catch {
    // Already gone.
  }
}
