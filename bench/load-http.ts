import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { ClosedLoop } from './closed-loop.js';
import { HttpMessages, httpMessage } from './http-messages.js';
import { argsOf, type LoadJob, type LoadResult, settledMark, type Target, toolName } from './load-job.js';

/** Requests over as many kept-alive connections as may be in flight, one at a time on each. */
export async function loadHttp(job: LoadJob, target: Extract<Target, { protocol: 'http' }>): Promise<LoadResult> {
  const { port, path } = target;
  const frames = Array.from({ length: job.count }, (_, i) => frame(job.first + i, path));
  const sockets: Socket[] = [];
  // One after the other: a server that gets too many at once lets some wait a second for their next try.
  while (sockets.length < Math.min(job.concurrency, job.count)) sockets.push(await open(port));
  const loop = new ClosedLoop(job.count);
  try {
    const runs = sockets.map((socket) => run(socket, loop, frames));
    return await Promise.race([loop.finished, ...runs]);
  } finally {
    for (const socket of sockets) {
      socket.removeAllListeners('close');
      socket.destroy();
    }
  }
}

async function open(port: number): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true });
  await once(socket, 'connect');
  return socket;
}

/** Never resolves; rejects when the connection ends before the loop. */
function run(socket: Socket, loop: ClosedLoop, frames: readonly Buffer[]): Promise<never> {
  return new Promise((_, reject) => {
    socket.once('close', () => reject(new Error('the server closed a connection of the load generator')));
    let current = 0;
    const send = () => {
      const index = loop.take();
      const bytes = index === null ? undefined : frames[index];
      if (index === null || !bytes) return;
      current = index;
      socket.write(bytes);
    };
    const messages = new HttpMessages((_head, body) => {
      loop.answer(current, body.includes(settledMark) ? null : body.toString());
      send();
    });
    socket.on('data', (chunk) => messages.push(chunk));
    send();
  });
}

function frame(n: number, path: string): Buffer {
  const id = `call_${n}`;
  const body = JSON.stringify({ id, tool: toolName, args: argsOf(n) });
  // Restate wants the name of a call there; the others take it from the body.
  return httpMessage(`POST ${path} HTTP/1.1`, body, ['Host: bench', `Idempotency-Key: ${id}`]);
}
