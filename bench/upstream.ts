import { createServer, type Socket } from 'node:net';
import { HttpMessages, header, httpMessage } from './http-messages.js';
import { type FromUpstream, report, type ToUpstream } from './ipc.js';
import { listen } from './listen.js';
import { doubtfulMark } from './requests.js';

/**
 * The upstream of the benchmark, a process of its own: it answers every write at once, or after so many ms, with about
 * 200 bytes and remembers the keys it saw. Doubtful writes take effect, too, but the answer is a 502. While it is told to
 * hang, it takes what goes to `/hanging` and does nothing with it.
 * Sockets are read by hand because `node:http` would cost more than what is measured.
 */
const delayMs = Number(process.argv[2] ?? 0);
const seen = new Set<string>();
let writes = 0;
let hangs = false;
const held = new Set<Socket>();

const receipt = JSON.stringify({ effect_id: 'eff_0000000001', state: 'done', note: 'x'.repeat(140) });
const written = httpMessage('HTTP/1.1 200 OK', receipt);
const doubtful = httpMessage('HTTP/1.1 502 Bad Gateway', '{"error":"bad gateway"}');
const absent = httpMessage('HTTP/1.1 200 OK', '[]');
const present = httpMessage('HTTP/1.1 200 OK', `[${receipt}]`);

function answer(head: string, body: Buffer): Buffer {
  if (head.startsWith('GET ')) return seen.has(/[?&]key=([^& ]*)/.exec(head)?.[1] ?? '') ? present : absent;
  writes += 1;
  seen.add(header(head, 'idempotency-key') ?? `no key ${writes}`);
  return body.includes(doubtfulMark) ? doubtful : written;
}

const server = createServer((socket) => {
  const messages = new HttpMessages((head, body) => {
    if (hangs && / \/hanging/.test(head.slice(0, 20))) return void held.add(socket);
    const bytes = answer(head, body);
    if (delayMs === 0) socket.write(bytes);
    else later(delayMs, () => socket.write(bytes));
  });
  socket.setNoDelay(true);
  socket.on('data', (chunk) => messages.push(chunk));
  socket.on('error', () => socket.destroy());
  socket.on('close', () => held.delete(socket));
});

/** A timer is late by up to a millisecond, which would be taken for work of the system; the last bit is waited out. */
function later(ms: number, run: () => void): void {
  const at = performance.now() + ms;
  const look = () => (performance.now() >= at ? run() : setImmediate(look));
  setTimeout(look, Math.floor(ms) - 1);
}

process.on('message', (order: ToUpstream) => {
  hangs = order.hangs ?? hangs;
  if (!hangs) for (const socket of held) socket.destroy();
  report<FromUpstream>({ kind: 'counts', writes, effects: seen.size });
});
process.once('disconnect', () => process.exit(0));
report<FromUpstream>({ kind: 'ready', port: await listen(server) });
