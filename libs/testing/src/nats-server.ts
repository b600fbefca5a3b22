import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export interface NatsServerOptions {
  /** Kept when the server ends; without it, a directory that is removed with the test process. */
  readonly storeDir?: string;
  /** Without it, a port the server finds free. */
  readonly port?: number;
  /** False: a server without JetStream. */
  readonly jetStream?: boolean;
  /** Further arguments of nats-server. */
  readonly args?: readonly string[];
}

/** A private nats-server on the loopback interface. */
export interface NatsServer {
  readonly url: string;
  readonly port: number;
  readonly storeDir: string;
  /** Of the running process; changes with a restart. */
  readonly pid: number;
  stop(): Promise<void>;
  /** SIGKILL: nothing is flushed. */
  kill(): Promise<void>;
  /** Starts it again on the same port and store; stops it first when it runs. */
  restart(): Promise<void>;
  /** Removes all that JetStream stored; call while stopped. */
  wipe(): void;
  /** SIGSTOP: connections stay open and nothing answers. */
  pause(): void;
  resume(): void;
}

const deadlineMs = 10_000;
const running = new Set<ChildProcess>();
const ownDirs = new Set<string>();
process.once('exit', cleanUp);
// The test runner ends its workers with a signal, which alone does not count as an exit.
process.once('SIGTERM', () => {
  cleanUp();
  process.kill(process.pid, 'SIGTERM');
});

function cleanUp(): void {
  for (const child of running) child.kill('SIGKILL');
  for (const dir of ownDirs) rmSync(dir, { recursive: true, force: true });
}

/** Starts a server and resolves when it takes connections, its streams recovered. */
export async function startNats(options: NatsServerOptions = {}): Promise<NatsServer> {
  const storeDir = options.storeDir ?? temporaryDir();
  mkdirSync(storeDir, { recursive: true });
  const args = [...(options.jetStream === false ? [] : ['-js', '-sd', storeDir]), ...(options.args ?? [])];
  const first = await launch(storeDir, args, options.port);
  const { port } = first;
  let child = first.child;

  const end = async (signal: NodeJS.Signals) => {
    if (!running.has(child)) return;
    const exited = once(child, 'exit');
    child.kill('SIGCONT');
    child.kill(signal);
    await exited;
  };
  return {
    url: `nats://127.0.0.1:${port}`,
    port,
    storeDir,
    get pid() {
      return child.pid ?? 0;
    },
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
    restart: async () => {
      await end('SIGTERM');
      child = (await launch(storeDir, args, port)).child;
    },
    wipe: () => rmSync(path.join(storeDir, 'jetstream'), { recursive: true, force: true }),
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
  };
}

/**
 * The binary named by INTENDANT_NATS_BIN, else the first on PATH and in the usual folders, else the newest one that
 * the launcher unpacked under `.intendant/nats`.
 */
export function natsBinary(): string {
  const named = process.env['INTENDANT_NATS_BIN'];
  const folders = [...(process.env['PATH'] ?? '').split(path.delimiter), '/usr/sbin', '/usr/local/bin'];
  const candidates = named ? [named] : folders.map((folder) => path.join(folder, 'nats-server'));
  const found = candidates.find((file) => existsSync(file)) ?? (named ? undefined : unpacked());
  if (found) return found;
  throw new Error(
    named
      ? `INTENDANT_NATS_BIN names ${named}, which does not exist`
      : 'nats-server not found: install it, run `npm start` once, or set INTENDANT_NATS_BIN to the binary',
  );
}

function unpacked(): string | undefined {
  const folder = fileURLToPath(new URL('../../../.intendant/nats', import.meta.url));
  if (!existsSync(folder)) return undefined;
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => path.basename(file) === 'nats-server')
    .map((file) => path.join(folder, file))
    .filter((file) => statSync(file).isFile())
    .sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)[0];
}

async function launch(storeDir: string, args: string[], port?: number): Promise<{ child: ChildProcess; port: number }> {
  const portsDir = temporaryDir();
  const listen = ['-a', '127.0.0.1', '-p', String(port ?? -1), '--ports_file_dir', portsDir];
  const child = spawn(natsBinary(), [...listen, ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
  running.add(child);
  let log = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    log = (log + chunk.toString()).slice(-4_000);
  });
  child.once('exit', () => running.delete(child));
  const portsFile = path.join(portsDir, `nats-server_${child.pid}.ports`);
  const deadline = Date.now() + deadlineMs;
  while (Date.now() < deadline && running.has(child)) {
    const listening = readPort(portsFile);
    if (listening !== undefined && (await greets(listening))) {
      removeDir(portsDir);
      return { child, port: listening };
    }
    await delay(10);
  }
  child.kill('SIGKILL');
  throw new Error(`nats-server did not get ready in ${storeDir}:\n${log}`);
}

function readPort(file: string): number | undefined {
  try {
    const ports = JSON.parse(readFileSync(file, 'utf8')) as { nats: string[] };
    return Number(new URL(ports.nats[0] ?? '').port);
  } catch {
    // Not there yet, or half written.
    return undefined;
  }
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

function removeDir(dir: string): void {
  rmSync(dir, { recursive: true, force: true });
  ownDirs.delete(dir);
}

function temporaryDir(): string {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'intendant-nats-'));
  ownDirs.add(dir);
  return dir;
}
