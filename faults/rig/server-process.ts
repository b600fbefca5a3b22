import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';

export interface ServerCommand {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Appended to, so that it tells of every start. */
  readonly logFile: string;
  /** Only that: variables of the user's shell must not reach the server. */
  readonly env: Readonly<Record<string, string>>;
  readonly account?: { readonly uid: number; readonly gid: number } | null;
}

/** A server of the rig as a process; it does not outlive the process that started it. */
export class ServerProcess {
  static readonly #running = new Set<ServerProcess>();
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  readonly #command: ServerCommand;

  constructor(command: ServerCommand) {
    this.#command = command;
    const log = openSync(command.logFile, 'a', 0o600);
    this.#child = spawn(command.command, command.args, {
      cwd: '/',
      env: { ...command.env, ...mark() },
      stdio: ['ignore', log, log],
      ...(command.account && { uid: command.account.uid, gid: command.account.gid }),
    });
    closeSync(log);
    ServerProcess.#running.add(this);
    this.#exited = new Promise<void>((resolve) => {
      const gone = () => {
        ServerProcess.#running.delete(this);
        resolve();
      };
      this.#child.once('exit', gone);
      // It could not even be started; the log says nothing then, the caller finds it is not running.
      this.#child.once('error', gone);
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get running(): boolean {
    return ServerProcess.#running.has(this);
  }

  /** Does nothing when it has ended. */
  signal(signal: NodeJS.Signals): void {
    if (this.running) this.#child.kill(signal);
  }

  /** SIGSTOP for it and all its children; when this returns, they have stopped. Returns the children's numbers. */
  pause(): readonly number[] {
    this.signal('SIGSTOP');
    // The parent first: it can start no more then.
    const children = this.children();
    for (const each of children) signalIfThere(each, 'SIGSTOP');
    for (const each of this.running ? [this.pid, ...children] : []) waitUntilStopped(each);
    return children;
  }

  /** Sends the signal, also to a stopped process, and waits until it has ended; SIGKILL after `graceMs`. */
  async end(signal: NodeJS.Signals, graceMs = 20_000): Promise<void> {
    this.signal(signal);
    // A stopped process takes no signal but SIGKILL until it goes on.
    this.signal('SIGCONT');
    const timer = setTimeout(() => this.#killAll(), graceMs);
    await this.#exited;
    clearTimeout(timer);
  }

  /** Asks `ready` until it is true. @throws with the end of the log when it has ended or `boundMs` have passed. */
  async whenReady(ready: () => Promise<boolean>, boundMs = 60_000): Promise<void> {
    const { name } = this.#command;
    const deadline = performance.now() + boundMs;
    while (!(await ready())) {
      if (!this.running) throw new Error(`${name} has ended before it was ready:\n${this.logEnd()}`);
      if (performance.now() > deadline) {
        throw new Error(`${name} was not ready within ${boundMs / 1000} s:\n${this.logEnd()}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  logEnd(): string {
    return readFileSync(this.#command.logFile, 'utf8').slice(-3_000);
  }

  /** The processes it has started itself, by their numbers. */
  children(): number[] {
    if (!this.running) return [];
    return childrenOf(this.pid);
  }

  #killAll(): void {
    const children = this.children();
    this.signal('SIGKILL');
    // A stopped child does not notice that its parent is gone.
    for (const each of children) signalIfThere(each, 'SIGKILL');
  }

  static endAll(): void {
    for (const each of ServerProcess.#running) each.#killAll();
  }
}

process.once('exit', () => ServerProcess.endAll());
// A test runner ends its workers by a signal, which alone does not count as an exit; who listens for it itself, ends well.
process.once('SIGTERM', () => {
  if (process.listenerCount('SIGTERM') > 0) return;
  ServerProcess.endAll();
  process.kill(process.pid, 'SIGTERM');
});

/** The launcher ends whatever carries its mark. */
function mark(): Record<string, string> {
  const { LAUNCHED_BY } = process.env;
  return LAUNCHED_BY ? { LAUNCHED_BY } : {};
}

function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    // It ended meanwhile.
    return [];
  }
}

/** The signal has been sent; other processors take a moment to obey it. */
function waitUntilStopped(pid: number): void {
  while (stateOf(pid) === 'running');
}

function stateOf(pid: number): 'running' | 'stopped' | 'gone' {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // proc_pid_stat(5): after the name in brackets comes the state; T is stopped, Z and X have ended.
    const state = stat.charAt(stat.lastIndexOf(')') + 2);
    if ('ZX'.includes(state)) return 'gone';
    return state === 'T' ? 'stopped' : 'running';
  } catch {
    return 'gone';
  }
}

/** Does nothing when there is no such process any more. */
export function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
