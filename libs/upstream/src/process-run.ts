import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import type { CallOptions } from './adapter.js';
import { endGroup, signalGroup } from './process-group.js';
import { refusalToStart, tellSent } from './starting.js';

/** Between the request to end (SIGTERM) and the end (SIGKILL). */
const graceMs = 500;
/** After which a process that was killed is no longer waited for: it is stuck in the kernel. */
const giveUpMs = 2_000;
/** For what a process had written when it ended; longer only where one that left the group keeps the pipe open. */
const drainMs = 1_000;
/** Of what it says on stderr. */
const stderrBytes = 8 * 1024;

export interface Program {
  readonly argv: readonly string[];
  readonly cwd: string;
  /** All of it: nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  /** What it reads on stdin. */
  readonly input: string;
}

export interface RunOptions extends CallOptions {
  /** From the start to the end of the process, in ms. */
  readonly callMs: number;
  /** Most bytes of stdout that are read. */
  readonly maxBytes: number;
}

/** Why a process was ended before it ended by itself. */
export type Stopped = 'timeout' | 'aborted' | 'too_large';

interface Exit {
  /** Null when a signal ended it. */
  readonly exit: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Ended extends Exit {
  readonly kind: 'ended';
  readonly stdout: Buffer;
  /** Whole lines only where there was too much: half a secret would be recognised by nobody. */
  readonly stderr: string;
  readonly stopped: Stopped | null;
  /** False: something of it still runs: its group cannot be ended, or what left the group holds its output open. */
  readonly gone: boolean;
}

export type Ran =
  | { readonly kind: 'refused'; readonly detail: string }
  /** The system did not start it: nothing of it ever ran. */
  | { readonly kind: 'not_started'; readonly error: unknown }
  | Ended;

/**
 * Runs a program once, without a shell, as the leader of a process group of its own. Resolves when that whole group is
 * gone, which is given up a few seconds after the limit. Never rejects.
 */
export async function runProgram(program: Program, options: RunOptions): Promise<Ran> {
  const refusal = refusalToStart(options, 'the process was started');
  if (refusal !== null) return { kind: 'refused', detail: refusal };
  const [file = '', ...args] = program.argv;
  let child: ChildProcessWithoutNullStreams;
  try {
    child = spawn(file, args, { cwd: program.cwd, env: program.env, shell: false, detached: true });
  } catch (error) {
    return { kind: 'not_started', error };
  }
  if (child.pid === undefined) return { kind: 'not_started', error: await errorOf(child) };
  tellSent(options);
  return new Run(child, child.pid, options).end(program.input);
}

class Run {
  #stopped: Stopped | null = null;
  readonly #stdout: Buffer[] = [];
  readonly #stderr: Buffer[] = [];
  #stdoutBytes = 0;
  #stderrBytes = 0;
  /** Its number may be given to others from now on. */
  #over = false;
  /** What follows on a request to end that is not heard. */
  #next: NodeJS.Timeout | undefined;
  readonly #exited: Promise<Exit>;
  #exit: (exit: Exit) => void = () => {};

  constructor(
    private readonly child: ChildProcessWithoutNullStreams,
    /** Of the process, and so of its group. */
    private readonly pid: number,
    private readonly options: RunOptions,
  ) {
    this.#exited = new Promise((resolve) => {
      this.#exit = resolve;
    });
    child.once('exit', (exit, signal) => this.#exit({ exit, signal }));
  }

  async end(input: string): Promise<Ended> {
    const { child } = this;
    const { signal: abort, callMs } = this.options;
    const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
    // A program may end without reading what it is given, and a signal may not find it any more.
    for (const source of [child, child.stdin, child.stdout, child.stderr]) source.on('error', () => {});
    child.stdout.on('data', (chunk: Buffer) => this.#read(chunk));
    child.stderr.on('data', (chunk: Buffer) => this.#hear(chunk));
    child.stdin.end(input);

    const limit = setTimeout(() => this.#stop('timeout'), callMs);
    const onAbort = () => this.#stop('aborted');
    abort?.addEventListener('abort', onAbort, { once: true });
    if (abort?.aborted) onAbort();
    const { exit, signal } = await this.#exited;
    this.#over = true;
    clearTimeout(limit);
    clearTimeout(this.#next);
    abort?.removeEventListener('abort', onAbort);

    const ended = await endGroup(this.pid);
    const drained = await Promise.race([closed.then(() => true), delay(drainMs, false, { ref: false })]);
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
    const stdout = Buffer.concat(this.#stdout);
    const gone = ended && drained;
    return { kind: 'ended', exit, signal, stdout, stderr: this.#words(), stopped: this.#stopped, gone };
  }

  #stop(why: Stopped): void {
    if (this.#stopped !== null) return;
    this.#stopped = why;
    if (this.#over) return;
    signalGroup(this.pid, 'SIGTERM');
    this.#next = setTimeout(() => {
      signalGroup(this.pid, 'SIGKILL');
      this.#next = setTimeout(() => this.#exit({ exit: null, signal: null }), giveUpMs);
    }, graceMs);
  }

  #read(chunk: Buffer): void {
    this.#stdoutBytes += chunk.length;
    if (this.#stdoutBytes <= this.options.maxBytes) this.#stdout.push(chunk);
    else this.#stop('too_large');
  }

  #hear(chunk: Buffer): void {
    if (this.#stderrBytes < stderrBytes) this.#stderr.push(chunk.subarray(0, stderrBytes - this.#stderrBytes));
    this.#stderrBytes += chunk.length;
  }

  #words(): string {
    const words = Buffer.concat(this.#stderr).toString('utf8');
    return this.#stderrBytes <= stderrBytes ? words : words.slice(0, words.lastIndexOf('\n') + 1);
  }
}

function errorOf(child: ChildProcessWithoutNullStreams): Promise<unknown> {
  return new Promise((resolve) => child.once('error', resolve));
}
