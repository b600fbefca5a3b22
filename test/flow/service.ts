import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** One of the project's services as its own process. */
export interface Service {
  readonly name: string;
  /** Base URL of its HTTP side. */
  readonly url: string;
  readonly pid: number;
  /** What it logged, newest last, for the message of a failed test. */
  readonly log: readonly string[];
  /** Resolves with the signal or exit code when the process has ended. */
  readonly ended: Promise<NodeJS.Signals | number>;
  kill(signal: NodeJS.Signals): void;
  /** SIGTERM, and waits. */
  stop(): Promise<void>;
}

const alive = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of alive) child.kill('SIGKILL');
});

/** Starts a built service and resolves when it says that it is ready; rejects with its output when it ends before. */
export async function startService(name: string, env: Readonly<Record<string, string>>): Promise<Service> {
  const main = path.join(root, 'dist', 'apps', name, 'src', 'main.js');
  const child = spawn(process.execPath, ['--enable-source-maps', main], {
    cwd: root,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, INTENDANT_HTTP_PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  alive.add(child);
  const log: string[] = [];
  const ended = once(child, 'exit').then(([code, signal]) => {
    alive.delete(child);
    return (signal ?? code ?? -1) as NodeJS.Signals | number;
  });
  const ready = new Promise<string>((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      log.push(line);
      if (line.includes(`"msg":"${name} is ready"`)) resolve((JSON.parse(line) as { url: string }).url);
    });
    createInterface({ input: child.stderr }).on('line', (line) => log.push(line));
  });
  const url = await Promise.race([
    ready,
    ended.then((how) => {
      throw new Error(`${name} ended (${how}) before it was ready:\n${log.join('\n')}`);
    }),
  ]);
  return {
    name,
    url,
    pid: child.pid ?? 0,
    log,
    ended,
    kill: (signal) => void child.kill(signal),
    stop: async () => {
      child.kill('SIGCONT');
      child.kill('SIGTERM');
      await ended;
    },
  };
}
