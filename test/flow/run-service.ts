import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

export interface Ended {
  /** Exit status, or the signal that ended it. */
  readonly how: number | NodeJS.Signals;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a built service until it ends by itself, which it has to do within `limitMs`. */
export async function runService(
  name: string,
  env: Readonly<Record<string, string>>,
  args: readonly string[] = [],
  limitMs = 20_000,
): Promise<Ended> {
  const main = path.join(root, 'dist', 'apps', name, 'src', 'main.js');
  const child = spawn(process.execPath, [main, ...args], {
    cwd: root,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: limitMs,
    killSignal: 'SIGKILL',
  });
  const [stdout, stderr, [code, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  return { how: (signal ?? code) as Ended['how'], stdout, stderr };
}
