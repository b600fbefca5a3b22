import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { HttpMessages, httpMessage } from './http-messages.js';
import { type FromServer, report } from './ipc.js';
import { listen } from './listen.js';
import { settledText } from './load-job.js';
import { NatsMessages } from './nats-messages.js';

/** Answers every request at once, over NATS and HTTP: shows how fast the load generator is with nothing behind it. */
const [natsUrl, subject] = process.argv.slice(2) as [string, string];
const body = JSON.stringify({ status: settledText, data: { effect_id: 'eff_0000000001', note: 'x'.repeat(300) } });
const answer = httpMessage('HTTP/1.1 200 OK', body);

const { hostname, port } = new URL(natsUrl);
const nats = connect({ host: hostname, port: Number(port), noDelay: true });
const requests = new NatsMessages({
  onMessage: ({ replyTo }) => nats.write(`PUB ${replyTo} ${body.length}\r\n${body}\r\n`),
  onPing: () => nats.write('PONG\r\n'),
  onError: (line) => process.stderr.write(`responder: ${line}\n`),
});
await once(nats, 'connect');
nats.on('data', (chunk) => {
  nats.cork();
  requests.push(chunk);
  nats.uncork();
});
nats.write(`CONNECT {"verbose":false,"pedantic":false,"headers":true}\r\nSUB ${subject} 1\r\n`);

const server = createServer((socket) => {
  const messages = new HttpMessages(() => socket.write(answer));
  socket.setNoDelay(true);
  socket.on('data', (chunk) => messages.push(chunk));
  socket.on('error', () => socket.destroy());
});
process.once('disconnect', () => process.exit(0));
report<FromServer>({ kind: 'ready', port: await listen(server) });
