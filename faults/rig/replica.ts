import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { endWithRig, environmentOfRig } from './children.js';
import type { Role } from './installation.js';
import { root } from './root.js';
import { sentFileIn } from './sent-file.js';

const pollMs = 50;
const strikePollMs = 50;
/** How soon a supervisor starts a service again; each start in vain doubles it, or they would take all of the machine. */
const restartMs = 500;
const longestRestartMs = 8_000;
/** A cluster may take a few to get ready; a configuration that is wrong never does. */
const failedStartsInARow = 10;
/** How long a service may take to stop before it is killed. */
const stopMs = 30_000;
/** Small heaps, and no source maps: a start has to take little, for there are many. */
const nodeArgs = ['--max-old-space-size=128', '--max-semi-space-size=4'];

export interface ReplicaOptions {
  readonly name: string;
  readonly role: Role;
  readonly env: Readonly<Record<string, string>>;
  /** Own directory of the installation; the log goes to `logs`. */
  readonly dir: string;
  /** Called when the fault point that it was armed with has struck; for `pause` and `throw` up to 50 ms later. */
  readonly onStruck?: (name: string) => void;
}

/** One process of a service under a supervisor, which starts it again when it ends without being told to. */
export class Replica {
  readonly name: string;
  readonly role: Role;
  readonly #options: ReplicaOptions;
  readonly #logFile: string;
  readonly #blockFile: string;
  #child: ChildProcess | null = null;
  #exited: Promise<void> = Promise.resolve();
  #ready = false;
  #wanted = false;
  #stopping = false;
  #logStart = 0;
  #fault: string | null = null;
  #restart: NodeJS.Timeout | null = null;
  #failedStarts = 0;
  #startsInVain = 0;
  /** Ends after it was ready that nobody had ordered; those before it was are told in its log. */
  crashes = 0;
  readonly complaints: string[] = [];

  constructor(options: ReplicaOptions) {
    this.#options = options;
    this.name = options.name;
    this.role = options.role;
    const file = options.name.replace('/', '-');
    this.#logFile = path.join(options.dir, 'logs', `${file}.log`);
    this.#blockFile = path.join(options.dir, `${file}.block`);
  }

  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  /** Holds for how long SIGWINCH blocks it, in ms. */
  get blockFile(): string {
    return this.#blockFile;
  }

  get ready(): boolean {
    return this.#ready;
  }

  /** It has ended by itself, and the supervisor is about to start it. */
  get startsAgain(): boolean {
    return this.#restart !== null;
  }

  get stopping(): boolean {
    return this.#stopping;
  }

  /** Value of INTENDANT_FAULT that the running process was started with. */
  get fault(): string | null {
    return this.#fault;
  }

  get state(): 'running' | 'paused' | 'stopped' {
    if (!this.#child) return 'stopped';
    return isStopped(this.#child.pid) ? 'paused' : 'running';
  }

  /** Whether it ended or stopped, or threw, at the point it was armed with. */
  get struck(): boolean {
    if (this.#fault === null) return false;
    const [point, , action] = this.#fault.split(':');
    if (action === 'kill') return this.#child === null;
    if (action === 'pause') return this.state === 'paused';
    return this.logSinceStart().includes(`fault at ${point}`);
  }

  /** Starts the process; resolves when it is ready or armed and struck, or has ended. Does nothing when it runs. */
  async start(fault: string | null = null): Promise<void> {
    if (this.#child) return;
    if (this.#restart) clearTimeout(this.#restart);
    this.#restart = null;
    this.#wanted = true;
    this.#fault = fault;
    this.#launch();
    const exited = this.#exited;
    let ended = false;
    void exited.then(() => {
      ended = true;
    });
    while (!ended && !this.#ready && !this.struck) await delay(pollMs);
  }

  /** Resolves when it is ready, or struck where it is armed; rejects with its log after `timeoutMs` or too many starts. */
  async settled(timeoutMs: number): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    const mostFailures = this.#failedStarts + failedStartsInARow;
    while (!this.#ready && !this.struck) {
      const late = performance.now() > deadline && `was not ready after ${timeoutMs / 1000} s`;
      const failing = this.#failedStarts > mostFailures && `ended ${failedStartsInARow} times before it was ready`;
      if (late || failing) throw new Error(`${this.name} ${late || failing}:\n${lastLines(this.#log())}`);
      await delay(pollMs);
    }
  }

  async kill(): Promise<void> {
    this.#wanted = false;
    if (this.#restart) clearTimeout(this.#restart);
    this.#restart = null;
    this.#child?.kill('SIGKILL');
    await this.#exited;
  }

  /** SIGTERM, and SIGKILL when that does not end it. */
  async stop(): Promise<void> {
    this.#wanted = false;
    this.#stopping = true;
    const child = this.#child;
    child?.kill('SIGTERM');
    const late = setTimeout(() => {
      this.complaints.push(`did not end within ${stopMs / 1000} s of SIGTERM`);
      child?.kill('SIGKILL');
    }, stopMs);
    await this.#exited;
    clearTimeout(late);
    this.#stopping = false;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  logSinceStart(): string {
    if (!existsSync(this.#logFile)) return '';
    return readFileSync(this.#logFile).subarray(this.#logStart).toString('utf8');
  }

  #log(): string {
    return existsSync(this.#logFile) ? readFileSync(this.#logFile, 'utf8') : '';
  }

  /** Lines at level error or above, and those that are no log lines, such as what Node says when it dies. */
  errors(): string[] {
    const lines = this.#log()
      .split('\n')
      .filter((line) => line !== '' && isError(line));
    return [...this.complaints, ...lines].slice(-20);
  }

  #launch(): void {
    const { role, env, dir } = this.#options;
    const log = openSync(this.#logFile, 'a');
    this.#logStart = statSync(this.#logFile).size;
    const main = path.join(root, 'dist', 'apps', role, 'src', 'main.js');
    const preload = path.join(root, 'faults', 'rig', 'preload.mjs');
    const child = spawn(process.execPath, [...nodeArgs, '--import', preload, main], {
      cwd: dir,
      env: {
        ...environmentOfRig(),
        RIG_BLOCK_FILE: this.#blockFile,
        RIG_SENT_FILE: sentFileIn(dir),
        ...env,
        ...(this.#fault !== null && { INTENDANT_FAULT: this.#fault }),
      },
      // Its standard input ends with the rig, and it with that.
      stdio: ['pipe', log, log],
    });
    closeSync(log);
    endWithRig(child);
    this.#child = child;
    this.#ready = false;
    this.#exited = once(child, 'exit').then(() => this.#ended());
    void this.#watch(child);
  }

  async #watch(child: ChildProcess): Promise<void> {
    while (this.#child === child && !this.logSinceStart().includes(`"msg":"${this.role} is ready"`))
      await delay(pollMs);
    if (this.#child === child) this.#ready = true;
    if (this.#fault?.endsWith(':kill') !== false) return;
    while (this.#child === child && !this.struck) await delay(strikePollMs);
    if (this.#child === child) this.#options.onStruck?.(this.name);
  }

  #ended(): void {
    const { signalCode } = this.#child as ChildProcess;
    const wasReady = this.#ready;
    this.#child = null;
    this.#ready = false;
    const asArmed = signalCode === 'SIGKILL' && this.#fault?.endsWith(':kill') === true;
    if (asArmed && (this.#wanted || this.#stopping)) {
      this.#wanted = false;
      this.#options.onStruck?.(this.name);
    }
    // It may have thrown on its way down, between two looks.
    if (this.#fault?.endsWith(':throw') && this.struck) this.#options.onStruck?.(this.name);
    if (!this.#wanted) return;
    // A service that finds no server ends, and is started until there is one.
    const restartInMs = Math.min(longestRestartMs, restartMs * 2 ** this.#startsInVain);
    if (wasReady) this.crashes += 1;
    else this.#failedStarts += 1;
    this.#startsInVain = wasReady ? 0 : this.#startsInVain + 1;
    // What it was armed with is spent once it has worked.
    if (wasReady) this.#fault = null;
    this.#restart = setTimeout(() => {
      this.#restart = null;
      this.#launch();
    }, restartInMs);
  }
}

/** Whether a process was told to stop (SIGSTOP) and has. */
function isStopped(pid: number | undefined): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).startsWith('T');
  } catch {
    // It has just ended.
    return false;
  }
}

function isError(line: string): boolean {
  try {
    return ((JSON.parse(line) as { level?: number }).level ?? 0) >= 50;
  } catch {
    return true;
  }
}

function lastLines(text: string): string {
  const lines = text.trimEnd().split('\n').slice(-20);
  // A stack in a line of JSON is long, and what is wrong stands before it.
  return lines.map((line) => line.slice(0, 400)).join('\n');
}
