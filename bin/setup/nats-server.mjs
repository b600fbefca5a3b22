import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { readJson } from './paths.mjs';
import { step } from './progress.mjs';
import { endRunWith } from './required.mjs';
import { until } from './waiting.mjs';

const boundMs = 15_000;

/**
 * Starts a private nats-server with JetStream on a port of its own choice, loopback only.
 * `fresh` throws away what earlier runs stored. Returns `{ url, pid }`.
 */
export function startNats(session, binary, { fresh = false } = {}) {
  return step('nats', async (note) => {
    const directory = path.join(session.stateDir, 'nats-store');
    const ports = path.join(session.stateDir, 'nats-ports');
    for (const each of fresh ? [directory, ports] : [ports]) fs.rmSync(each, { recursive: true, force: true });
    for (const each of [directory, ports]) fs.mkdirSync(each, { recursive: true, mode: 0o700 });
    const child = session.processes.start({
      name: 'nats',
      command: binary,
      args: ['-a', '127.0.0.1', '-p', '-1', '--ports_file_dir', ports, '-js', '-sd', directory],
    });
    const url = await until(() => greeted(ports, child.pid), { boundMs, child, what: 'nats-server' }).catch((error) => {
      throw new Error(`${error.message}; see ${child.logFile}`);
    });
    endRunWith(session, child);
    note(url);
    return { url, pid: child.pid };
  });
}

/** The server writes the port it took into a file; it serves when it greets a client with its INFO line. */
async function greeted(ports, pid) {
  const file = fs.readdirSync(ports).find((name) => name.endsWith(`_${pid}.ports`));
  const url = file && readJson(path.join(ports, file))?.nats?.[0];
  if (!url) return undefined;
  return (await greets(Number(new URL(url).port))) ? url : undefined;
}

function greets(port) {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1');
    const end = (answer) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(2_000, () => end(false));
    socket.once('error', () => end(false));
    socket.once('data', (data) => end(data.toString().startsWith('INFO ')));
  });
}
