import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { programs } from './third-party-tools.js';

const preload = fileURLToPath(new URL('./tools-third-party/on-loopback.mjs', import.meta.url));
const program = path.join(programs.split(path.delimiter)[0] ?? '', 'mcp-server-everything');

/** `@modelcontextprotocol/server-everything` over streamable HTTP, as a process. */
export class EverythingServer {
  /** What it wrote, of all its processes. */
  readonly log: string[] = [];

  private constructor(
    private child: ChildProcess,
    public port = 0,
  ) {}

  static async start(): Promise<EverythingServer> {
    const server = new EverythingServer(launch(0));
    await server.#listening();
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/mcp`;
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await once(this.child, 'exit');
  }

  /** On the port that it had before. */
  async restart(): Promise<void> {
    this.child = launch(this.port);
    await this.#listening();
  }

  async #listening(): Promise<void> {
    const { stdout } = this.child;
    if (stdout === null) throw new Error('no output');
    this.port = await new Promise<number>((resolve, reject) => {
      createInterface({ input: stdout }).on('line', (line) => {
        this.log.push(line);
        if (line.startsWith('port ')) resolve(Number(line.slice(5)));
      });
      this.child.once('exit', (code) => reject(new Error(`it ended with ${code}: ${this.log.join('\n')}`)));
    });
  }
}

const alive = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of alive) child.kill('SIGKILL');
});

function launch(port: number): ChildProcess {
  const child = spawn(process.execPath, ['--import', preload, program, 'streamableHttp'], {
    env: { PATH: programs, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  alive.add(child);
  child.once('exit', () => alive.delete(child));
  return child;
}
