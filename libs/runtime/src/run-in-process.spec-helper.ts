import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export interface Ended {
  readonly output: string;
  readonly errors: string;
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Imports a file of this folder as `module` into a Node process of its own and runs `script` there. */
export function runInProcess(file: string, script: string, env: Readonly<Record<string, string>> = {}) {
  const source = fileURLToPath(new URL(file, import.meta.url));
  const program = `
    const { runnerImport } = await import('vite');
    const { module } = await runnerImport(process.argv[1], { configFile: false, logLevel: 'silent' });
    ${script}`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, source], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let errors = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const ended = once(child, 'close').then(([code, signal]): Ended => ({ output, errors, code, signal }));
  return { child, ended };
}
