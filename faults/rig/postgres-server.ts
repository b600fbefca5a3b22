import path from 'node:path';
import pg from 'pg';
import type { Machine } from '../machine.js';
import { freePort } from './free-port.js';
import { ServerProcess, signalIfThere } from './server-process.js';

const tries = 3;

const settings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  timezone: 'UTC',
  log_timezone: 'UTC',
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  // The checker compares the time of a commit with that of a request.
  track_commit_timestamp: 'on',
  // Eleven services may open sixteen each.
  max_connections: '200',
  // Several servers run on a machine, with little data each.
  shared_buffers: '32MB',
};

/** A postmaster on a data directory: started, stopped and signalled, always on the port it was given first. */
export class PostgresServer {
  #process: ServerProcess | null = null;
  #paused: readonly number[] | null = null;
  #port = 0;

  constructor(
    private readonly machine: Machine,
    private readonly directory: string,
    private readonly password: string,
    private readonly logFile: string,
  ) {}

  get port(): number {
    return this.#port;
  }

  get running(): boolean {
    return this.#process?.running ?? false;
  }

  url(database: string, account = 'postgres'): string {
    return `postgres://${account}:${this.password}@127.0.0.1:${this.#port}/${database}`;
  }

  /** Starts it at a free port. */
  async startSomewhere(): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      this.#port = await freePort();
      try {
        return await this.start();
      } catch (error) {
        // Another process may have taken the port between looking and binding.
        if (attempt === tries || !String(error).includes('Address already in use')) throw error;
      }
    }
  }

  /** Starts it again; does nothing when it runs. Resolves when it takes statements. */
  async start(): Promise<void> {
    if (this.running) return;
    this.#process = new ServerProcess({
      name: 'PostgreSQL',
      command: path.join(this.machine.postgresBin, 'postgres'),
      args: ['-D', this.directory, '-p', String(this.#port), ...options()],
      logFile: this.logFile,
      env: postgresEnvironment(),
      account: this.machine.postgresAccount,
    });
    await this.#process.whenReady(() => takesStatements(this.url('postgres')));
  }

  /** Fast shutdown: sessions are ended in order and everything is written. */
  async stop(): Promise<void> {
    await this.#end('SIGINT');
  }

  /** Immediate shutdown: nothing is written, the next start recovers from the log. */
  async crash(): Promise<void> {
    await this.#end('SIGQUIT');
  }

  /** SIGSTOP for all of it. */
  pause(): void {
    if (!this.#process?.running || this.#paused) return;
    this.#paused = this.#process.pause();
  }

  resume(): void {
    for (const each of this.#paused ?? []) signalIfThere(each, 'SIGCONT');
    this.#paused = null;
    this.#process?.signal('SIGCONT');
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    this.resume();
    await this.#process?.end(signal);
  }
}

function options(): string[] {
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/** PG* variables of the user's shell must not reach a private server. */
export function postgresEnvironment(): Record<string, string> {
  const { PATH = '/usr/bin:/bin', LD_LIBRARY_PATH } = process.env;
  return { PATH, HOME: '/', LC_ALL: 'C', TZ: 'UTC', ...(LD_LIBRARY_PATH && { LD_LIBRARY_PATH }) };
}

async function takesStatements(url: string): Promise<boolean> {
  try {
    await query(url, 'SELECT');
    return true;
  } catch {
    // Not listening yet, or still recovering; the log tells when it never gets ready.
    return false;
  }
}

/** One statement on a connection of its own. */
export async function query<T extends pg.QueryResultRow>(
  url: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<T[]> {
  const client = await connect(url);
  try {
    return (await client.query<T>(text, [...values])).rows;
  } finally {
    // A server that is being broken may be gone before it said goodbye.
    await client.end().catch(() => undefined);
  }
}

/** A connection that may be lost without harm; whoever uses it hears of it by the query that fails. */
export async function connect(url: string, name = 'rig'): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: name, connectionTimeoutMillis: 10_000 });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}
