import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** The root of the project, seen from where this file is built to. */
export const root = fileURLToPath(new URL('../../', import.meta.url));

export interface Child {
  readonly pid: number;
  stop(): Promise<void>;
}

/** Long enough for a start or for a job of the load generator on a busy machine; then something hangs. */
const limitMs = 120_000;

const alive = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of alive) child.kill('SIGKILL');
});
// A signal alone does not count as an exit, and services that are left behind would answer in the next run.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));

function keep(name: string, child: ChildProcess): { child: Child; ended: Promise<never> } {
  alive.add(child);
  const exited = once(child, 'exit').then(() => alive.delete(child));
  const ended = exited.then((): never => {
    throw new Error(`${name} has ended with ${child.signalCode ?? child.exitCode}`);
  });
  // Somebody waits for it only while a child starts or works.
  ended.catch(() => undefined);
  const stop = async () => {
    child.kill('SIGTERM');
    await exited;
  };
  return { child: { pid: child.pid ?? 0, stop }, ended };
}

export interface Forked<In, Out> extends Child {
  /** What it said when it was ready. */
  readonly ready: Out;
  /** Sends a message and waits for the answer. */
  ask(message: In): Promise<Out>;
}

/** Starts a part of the benchmark as a process of its own; resolves when it says that it is ready. */
export function forkPart<In extends object, Out>(name: string, args: string[] = []): Promise<Forked<In, Out>> {
  return forkFile(name, fileURLToPath(new URL(`./${name}.js`, import.meta.url)), args);
}

/** The same for any file of JavaScript that tells over IPC when it is ready. */
export async function forkFile<In extends object, Out>(
  name: string,
  file: string,
  args: readonly string[],
): Promise<Forked<In, Out>> {
  const forked = fork(file, args, {
    execArgv: ['--enable-source-maps'],
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const { child, ended } = keep(name, forked);
  const answer = async () => (await within(name, Promise.race([once(forked, 'message'), ended])))[0] as Out;
  const ready = await answer();
  const ask = (message: In) => {
    const answered = answer();
    forked.send(message);
    return answered;
  };
  return { ...child, ready, ask };
}

/** Starts a program whose readiness is seen from outside; `ended` rejects when it ends before it is asked to. */
export function startProgram(
  name: string,
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): { readonly child: Child; readonly ended: Promise<never> } {
  const spawned = spawn(command, args, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return keep(name, spawned);
}

/** Starts a built service; resolves when it says that it is ready, and rejects with its output when it ends before. */
export async function startService(
  name: string,
  env: Readonly<Record<string, string>>,
  nodeArgs: readonly string[],
): Promise<Child> {
  const main = `${root}dist/apps/${name}/src/main.js`;
  const spawned = spawn(process.execPath, ['--enable-source-maps', '--max-semi-space-size=64', ...nodeArgs, main], {
    cwd: root,
    env: { PATH: process.env.PATH, NODE_ENV: 'production', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { child, ended } = keep(name, spawned);
  const log: string[] = [];
  const ready = new Promise<void>((resolve) => {
    const read = (line: string) => {
      if (line.includes(`"msg":"${name} is ready"`)) resolve();
      // From here on only what is wrong is of interest.
      if (log.push(line) > 20) log.shift();
      if (/"level":(50|60)/.test(line)) process.stderr.write(`${name}: ${line}\n`);
    };
    createInterface({ input: spawned.stdout }).on('line', read);
    createInterface({ input: spawned.stderr }).on('line', read);
  });
  await within(name, Promise.race([ready, ended])).catch((error: Error) => {
    throw new Error(`${error.message} before it was ready:\n${log.join('\n')}`);
  });
  return child;
}

async function within<T>(name: string, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${name} did not answer within ${limitMs / 1000} s`)), limitMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
