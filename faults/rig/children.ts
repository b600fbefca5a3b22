import type { ChildProcess } from 'node:child_process';

const alive = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of alive) child.kill('SIGKILL');
});

/** Kills this child when the rig ends while it still runs. */
export function endWithRig(child: ChildProcess): void {
  alive.add(child);
  child.once('exit', () => alive.delete(child));
  // Nothing is ever written to it; that it breaks with the child says nothing new.
  child.stdin?.on('error', () => undefined);
}

/** What children get of the rig's own environment: the launcher's mark is how it finds what is left. */
export function environmentOfRig(): Record<string, string> {
  const names = ['PATH', 'HOME', 'LAUNCHED_BY'];
  const entries = names.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { NODE_ENV: 'production', ...Object.fromEntries(entries) };
}
