import { once } from 'node:events';
import net from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startTcpProxy, type TcpProxy } from './tcp-proxy.js';

let server: net.Server;
let proxy: TcpProxy;
let received: string;

/** Answers each chunk with itself in capitals. */
beforeEach(async () => {
  received = '';
  server = net.createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      received += chunk.toString();
      socket.write(chunk.toString().toUpperCase());
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  proxy = await startTcpProxy((server.address() as net.AddressInfo).port);
});
afterEach(async () => {
  await proxy.close();
  server.close();
});

async function dial(): Promise<{ socket: net.Socket; heard: () => string; closed: Promise<unknown> }> {
  const { hostname, port } = new URL(proxy.through('tcp://elsewhere:1/'));
  const socket = net.connect(Number(port), hostname);
  let heard = '';
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => {
    heard += chunk.toString();
  });
  const closed = new Promise((resolve) => socket.once('close', resolve));
  await once(socket, 'connect');
  return { socket, heard: () => heard, closed };
}

async function ask(socket: net.Socket, text: string): Promise<string> {
  socket.write(text);
  const [chunk] = (await once(socket, 'data')) as [Buffer];
  return chunk.toString();
}

it('passes bytes in both directions', async () => {
  const { socket } = await dial();
  expect(await ask(socket, 'hello')).toBe('HELLO');
});

it('cuts a connection after so many bytes of the reply to a certain text, and only that connection', async () => {
  const [other, victim] = [await dial(), await dial()];
  const cut = proxy.cutOnce({ after: 'commit', direction: 'to_client', bytes: 2 });
  expect(await ask(victim.socket, 'begin')).toBe('BEGIN');
  expect(await ask(victim.socket, 'commit')).toBe('CO');
  await Promise.all([cut, victim.closed]);
  expect(received).toBe('begincommit');
  expect(await ask(other.socket, 'still here')).toBe('STILL HERE');
});

it('cuts a connection after so many bytes on their way to the server', async () => {
  const { socket, closed } = await dial();
  const cut = proxy.cutOnce({ direction: 'to_server', bytes: 0 });
  socket.write('lost');
  await Promise.all([cut, closed]);
  expect(received).toBe('');
});

it('swallows everything while connections stay open, and resets those that lost bytes when it is over', async () => {
  const { socket, heard, closed } = await dial();
  expect(await ask(socket, 'a')).toBe('A');
  proxy.swallow('both');
  const late = await dial();
  socket.write('b');
  late.socket.write('c');
  proxy.heal();
  await Promise.all([closed, late.closed]);
  expect({ received, heard: heard() }).toEqual({ received: 'a', heard: 'A' });
  expect(await ask((await dial()).socket, 'd')).toBe('D');
});

it('resets all connections and each new one until it is healed', async () => {
  const before = await dial();
  expect(await ask(before.socket, 'a')).toBe('A');
  proxy.partition();
  await before.closed;
  const during = net.connect(proxy.port, '127.0.0.1').on('error', () => undefined);
  await new Promise((resolve) => during.once('close', resolve));
  proxy.heal();
  expect(await ask((await dial()).socket, 'b')).toBe('B');
});
