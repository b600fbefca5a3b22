import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { ClosedLoop } from './closed-loop.js';
import { argsOf, type LoadJob, type LoadResult, settledMark, type Target, toolName } from './load-job.js';
import { NatsMessages } from './nats-messages.js';

const inbox = '_INBOX.bench.';

/**
 * Requests over one NATS connection with one subscription for all answers. The protocol is spoken by hand, with all
 * bytes made beforehand, so that the generator costs a fraction of what it measures.
 */
export async function loadNats(job: LoadJob, target: Extract<Target, { protocol: 'nats' }>): Promise<LoadResult> {
  const frames = Array.from({ length: job.count }, (_, i) => frame(job.first + i, i, target));
  const { hostname, port } = new URL(target.url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  await once(socket, 'connect');
  socket.write(`CONNECT {"verbose":false,"pedantic":false,"headers":true,"no_responders":true}\r\nSUB ${inbox}* 1\r\n`);

  const loop = new ClosedLoop(job.count);
  const broken = new Promise<never>((_, reject) => {
    socket.once('close', () => reject(new Error('NATS closed the connection of the load generator')));
    const messages = new NatsMessages({
      onMessage: ({ subject, body, hasHeaders }) => {
        const settled = !hasHeaders && body.includes(settledMark);
        loop.answer(Number(subject.slice(inbox.length)), settled ? null : body.toString());
        sendNext(socket, loop, frames);
      },
      onPing: () => socket.write('PONG\r\n'),
      onError: (line) => reject(new Error(`NATS refused the load generator: ${line}`)),
    });
    socket.on('data', (chunk) => {
      socket.cork();
      messages.push(chunk);
      socket.uncork();
    });
  });
  socket.cork();
  for (let i = 0; i < job.concurrency; i += 1) sendNext(socket, loop, frames);
  socket.uncork();
  try {
    return await Promise.race([loop.finished, broken]);
  } finally {
    socket.removeAllListeners('close');
    socket.destroy();
  }
}

function sendNext(socket: Socket, loop: ClosedLoop, frames: readonly Buffer[]): void {
  const index = loop.take();
  const bytes = index === null ? undefined : frames[index];
  if (bytes) socket.write(bytes);
}

function frame(n: number, index: number, { subject, tokens }: Extract<Target, { protocol: 'nats' }>): Buffer {
  const headers = `NATS/1.0\r\nAuthorization: Bearer ${tokens[n % tokens.length]}\r\nIntendant-Wait: 10s\r\n\r\n`;
  const body = JSON.stringify({ tool: toolName, args: argsOf(n), stepId: `step_${n}` });
  const size = headers.length + Buffer.byteLength(body);
  return Buffer.from(`HPUB ${subject} ${inbox}${index} ${headers.length} ${size}\r\n${headers}${body}\r\n`);
}
