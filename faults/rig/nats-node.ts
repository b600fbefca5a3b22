import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { ServerProcess } from './server-process.js';

export interface NatsNodeOptions {
  readonly binary: string;
  /** Its store, configuration and log go there. */
  readonly dir: string;
  readonly name: string;
  readonly port: number;
  readonly monitorPort: number;
  /** Ports of all nodes for each other; null for a server on its own. */
  readonly cluster: { readonly port: number; readonly routes: readonly number[] } | null;
}

/** One nats-server with JetStream on disk, always at the same ports. */
export class NatsNode {
  readonly #options: NatsNodeOptions;
  #process: ServerProcess | null = null;
  #paused = false;

  constructor(options: NatsNodeOptions) {
    this.#options = options;
    mkdirSync(options.dir, { recursive: true });
    writeFileSync(this.#file('nats.conf'), configuration(options, this.#file('store')));
  }

  get name(): string {
    return this.#options.name;
  }

  get running(): boolean {
    return this.#process?.running ?? false;
  }

  /** Running and not paused. */
  get serves(): boolean {
    return this.running && !this.#paused;
  }

  /** Starts it; does nothing when it runs. Resolves when it greets clients; JetStream may still be recovering. */
  async start(): Promise<void> {
    if (this.running) return;
    this.#paused = false;
    this.#process = new ServerProcess({
      name: `nats-server ${this.name}`,
      command: this.#options.binary,
      args: ['-c', this.#file('nats.conf')],
      logFile: this.#file('nats.log'),
      env: {},
    });
    await this.#process.whenReady(() => greets(this.#options.port));
  }

  /** Resolves when JetStream has recovered and, in a cluster, has caught up with the others. */
  async whenHealthy(boundMs: number): Promise<void> {
    await this.#process?.whenReady(() => isHealthy(this.#options.monitorPort), boundMs);
  }

  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    await this.#process?.end(signal);
    this.#paused = false;
  }

  pause(): void {
    if (!this.running) return;
    this.#paused = true;
    this.#process?.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#process?.signal('SIGCONT');
  }

  /** Call while it does not run. */
  removeStore(): void {
    rmSync(this.#file('store'), { recursive: true, force: true });
  }

  /** As a snapshot of the disk would be: what the server holds in memory is not in it. Call while it does not write. */
  copyStore(): void {
    rmSync(this.#file('copy'), { recursive: true, force: true });
    if (existsSync(this.#file('store'))) cpSync(this.#file('store'), this.#file('copy'), { recursive: true });
  }

  /** Call while it does not run. @throws when nothing was copied before */
  useCopy(): void {
    this.removeStore();
    cpSync(this.#file('copy'), this.#file('store'), { recursive: true });
  }

  /** Its store and the copy of it; the log stays. Call while it does not run. */
  removeAll(): void {
    for (const each of ['store', 'copy']) rmSync(this.#file(each), { recursive: true, force: true });
  }

  #file(name: string): string {
    return path.join(this.#options.dir, name);
  }
}

function configuration({ name, port, monitorPort, cluster }: NatsNodeOptions, store: string): string {
  const lines = [
    `server_name: ${JSON.stringify(name)}`,
    `listen: "127.0.0.1:${port}"`,
    `http: "127.0.0.1:${monitorPort}"`,
    // A limit of its own: without it the free disk would decide whether the streams fit.
    `jetstream { store_dir: ${JSON.stringify(store)}, max_file: 8GB, max_mem: 64MB }`,
  ];
  if (cluster) {
    const routes = cluster.routes.map((each) => `"nats://127.0.0.1:${each}"`).join(', ');
    // Clients would learn the addresses of the nodes and go past the proxies that they are to be reached by.
    // By the ports of its own: a node of another installation that finds a free port again must not be let in.
    const own = [...cluster.routes].sort().join('-');
    lines.push(
      `cluster { name: rig-${own}, listen: "127.0.0.1:${cluster.port}", no_advertise: true, routes: [${routes}] }`,
    );
  }
  return `${lines.join('\n')}\n`;
}

/** A server says INFO to every connection once it serves clients. */
function greets(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1');
    const done = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('data', (chunk) => done(chunk.toString().startsWith('INFO')));
    socket.once('error', () => done(false));
    socket.once('close', () => done(false));
  });
}

async function isHealthy(monitorPort: number): Promise<boolean> {
  try {
    const answer = await fetch(`http://127.0.0.1:${monitorPort}/healthz`, { signal: AbortSignal.timeout(2_000) });
    await answer.arrayBuffer();
    return answer.ok;
  } catch {
    return false;
  }
}
