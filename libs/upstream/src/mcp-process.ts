import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import {
  isJSONRPCRequest,
  type JSONRPCMessage,
  ReadBuffer,
  serializeMessage,
  type Transport,
  type TransportSendOptions,
} from '@modelcontextprotocol/client';
import { inheritedEnvironment } from './inherited-environment.js';
import { exchangeOf, type FindExchange } from './mcp-exchange.js';
import { endGroup, signalGroup } from './process-group.js';

export interface ProcessOptions {
  readonly command: readonly string[];
  /** Beside PATH and LANG, the whole environment: the service has secrets of its own. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Longest message that is read, in bytes. */
  readonly maxBytes: number;
  readonly find: FindExchange;
}

/** How long a server may take to end by itself, first after the end of its input, then after SIGTERM; in ms. */
const graceMs = 500;
const endMs = 5_000;
/** How long a verdict waits for the end of a server that was killed; a lease has more time than that to spare. */
const recallMs = 2_000;
/** Most characters of what it writes on stderr that are kept, from the end. */
const lastWords = 2_000;

/**
 * MCP over the stdin and stdout of a child process. The client's own transport hands more of the environment on than
 * it must, and ends the child alone; this one ends all that the child has started.
 */
export class McpProcess implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** Why it is over, once it is. */
  ending: { readonly cause: string; readonly detail: string } | null = null;
  readonly #buffer: ReadBuffer;
  #child: ChildProcessWithoutNullStreams | null = null;
  #gone: Promise<void> = Promise.resolve();
  #stderr = '';

  constructor(private readonly options: ProcessOptions) {
    this.#buffer = new ReadBuffer({ maxBufferSize: options.maxBytes });
  }

  /** @throws the error of the system when there is no such program or it cannot be run */
  async start(): Promise<void> {
    const [program = '', ...args] = this.options.command;
    const { cwd, env } = this.options;
    // A process group of its own, so that it can be ended together with what it starts.
    const child = spawn(program, args, {
      cwd,
      env: { ...inheritedEnvironment(), ...env },
      detached: true,
      stdio: 'pipe',
    });
    child.stdin.on('error', (error) => this.onerror?.(error));
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
      // Whole lines only: half a secret would be recognised by nobody.
      if (this.#stderr.length > lastWords) this.#stderr = this.#stderr.slice(-lastWords).replace(/^[^\n]*\n?/, '');
    });
    child.stdout.on('data', (chunk: Buffer) => this.#read(chunk));
    await new Promise<void>((resolve, reject) => child.once('spawn', resolve).once('error', reject));
    child.on('error', (error) => this.onerror?.(error));
    this.#child = child;
    this.#gone = this.#end(child);
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    const child = this.#child;
    if (child === null || this.ending !== null) throw new Error('the server is not running');
    const line = serializeMessage(message);
    let written = false;
    if (isJSONRPCRequest(message) && message.method === 'tools/call') {
      const exchange = exchangeOf(this.options.find, options);
      exchange.rpcId = message.id;
      if (!exchange.start()) throw new Error('not to be sent');
      exchange.recall = () => (written ? null : this.#recall());
    }
    child.stdin.write(line, () => {
      written = true;
    });
  }

  /** Ends the server, by force where it must, and waits until nothing of it is left. */
  async close(): Promise<void> {
    const child = this.#child;
    if (child?.pid !== undefined && this.ending === null) {
      child.stdin.end();
      if (!(await this.#goneWithin(graceMs))) {
        signalGroup(child.pid, 'SIGTERM');
        if (!(await this.#goneWithin(graceMs))) signalGroup(child.pid, 'SIGKILL');
      }
    }
    // Only a process that is stuck in the kernel takes longer.
    await this.#goneWithin(endMs);
  }

  #read(chunk: Buffer): void {
    try {
      this.#buffer.append(chunk);
    } catch {
      this.#stop('response_too_large', `the server wrote more than ${this.options.maxBytes} bytes in one message`);
      return;
    }
    for (;;) {
      try {
        const message = this.#buffer.readMessage();
        if (message === null) return;
        this.onmessage?.(message);
      } catch (error) {
        // Not a message of the protocol; the next line may be one.
        this.onerror?.(error as Error);
      }
    }
  }

  /** The server does not read: what it was given up for must not reach it once it does. */
  async #recall(): Promise<void> {
    this.#stop('server_exited', 'the server was ended, since it did not read a call that was given up');
    await this.#goneWithin(recallMs);
  }

  /** Follows the child to its end, which takes the rest of its group along. */
  async #end(child: ChildProcessWithoutNullStreams): Promise<void> {
    const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
    const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) =>
      child.once('exit', (...how) => resolve(how)),
    );
    this.#stop('server_exited', `the server ended with ${signal ?? `status ${code}`}`);
    if (child.pid !== undefined) await endGroup(child.pid);
    // What it wrote last is still in the pipes, which a process outside its group could keep open.
    await Promise.race([closed, delay(graceMs, undefined, { ref: false })]);
    child.stdout.destroy();
    child.stderr.destroy();
    if (this.ending !== null) this.ending = { ...this.ending, detail: `${this.ending.detail}. ${this.#stderr}`.trim() };
    this.onclose?.();
  }

  #stop(cause: string, detail: string): void {
    const child = this.#child;
    this.ending ??= { cause, detail };
    child?.stdin.destroy();
    // Once it has ended, its number may be given to others.
    if (child?.pid !== undefined && child.exitCode === null && child.signalCode === null) {
      signalGroup(child.pid, 'SIGKILL');
    }
  }

  #goneWithin(ms: number): Promise<boolean> {
    return Promise.race([this.#gone.then(() => true), delay(ms, false, { ref: false })]);
  }
}
