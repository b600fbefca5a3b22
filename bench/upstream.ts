import { createServer } from 'node:net';
import { HttpMessages, header, httpMessage } from './http-messages.js';
import { type FromUpstream, report } from './ipc.js';
import { listen } from './listen.js';

/**
 * The upstream of the benchmark, a process of its own: it answers every write at once with about 200 bytes and
 * remembers the keys it saw. Sockets are read by hand because `node:http` would cost more than what is measured.
 */
const seen = new Set<string>();
let writes = 0;

const receipt = JSON.stringify({ effect_id: 'eff_0000000001', state: 'done', note: 'x'.repeat(140) });
const written = httpMessage('HTTP/1.1 200 OK', receipt);
const absent = httpMessage('HTTP/1.1 200 OK', '[]');
const present = httpMessage('HTTP/1.1 200 OK', `[${receipt}]`);

function answer(head: string): Buffer {
  if (head.startsWith('GET ')) return seen.has(/[?&]key=([^& ]*)/.exec(head)?.[1] ?? '') ? present : absent;
  writes += 1;
  seen.add(header(head, 'idempotency-key') ?? `no key ${writes}`);
  return written;
}

const server = createServer((socket) => {
  const messages = new HttpMessages((head) => socket.write(answer(head)));
  socket.setNoDelay(true);
  socket.on('data', (chunk) => messages.push(chunk));
  socket.on('error', () => socket.destroy());
});

process.on('message', () => report<FromUpstream>({ kind: 'counts', writes, effects: seen.size }));
process.once('disconnect', () => process.exit(0));
report<FromUpstream>({ kind: 'ready', port: await listen(server) });
