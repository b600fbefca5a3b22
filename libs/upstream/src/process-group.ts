import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

/** How long the kernel may take to end what was killed; only a process stuck in a device driver takes longer. */
const endMs = 2_000;

/** Sends a signal to every process of a group; a group that is gone, or is not ours to signal, is left alone. */
export function signalGroup(id: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-id, signal);
  } catch {
    // Whether it is gone is asked separately.
  }
}

/**
 * Kills what is left of a group whose leader has ended, and waits until nothing of it runs any more. A process that
 * has put itself into a group of its own (`setsid`) is not found.
 *
 * @returns false when something still runs after two seconds
 */
export async function endGroup(id: number): Promise<boolean> {
  const deadline = performance.now() + endMs;
  for (let pauseMs = 1; ; pauseMs = Math.min(2 * pauseMs, 50)) {
    // Once it is gone its number may be given to others: then it must not be signalled any more.
    if (!exists(id)) return true;
    signalGroup(id, 'SIGKILL');
    if (!exists(id) || !(await runs(id))) return true;
    if (performance.now() > deadline) return false;
    await delay(pauseMs);
  }
}

function exists(id: number): boolean {
  try {
    process.kill(-id, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/**
 * Whether any process of an existing group is more than a zombie. Orphans stay zombies for ever where process 1 does
 * not reap them, as in a container whose first process is a plain program.
 */
async function runs(id: number): Promise<boolean> {
  if (process.platform !== 'linux') return true;
  const processes = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const states = await Promise.all(processes.map((pid) => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')));
  return states.some((stat) => {
    // proc(5): pid (name) state ppid pgrp …; the name may contain blanks and brackets.
    const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return Number(group) === id && state !== 'Z' && state !== 'X';
  });
}
