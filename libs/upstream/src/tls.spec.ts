import { once } from 'node:events';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { MisbehavingServer, selfSigned, toolAt } from '@intendant/testing';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { attempt } from './asking.spec-helper.js';
import { Upstreams } from './index.js';

let adapter: Upstreams;
let server: Server | null = null;

beforeEach(() => {
  adapter = new Upstreams(() => null);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await adapter.close();
  server?.close();
  server = null;
});

async function listen(started: Server): Promise<string> {
  server = started.listen(0, '127.0.0.1');
  await once(started, 'listening');
  return `https://127.0.0.1:${(started.address() as AddressInfo).port}`;
}

async function call(url: string, http2 = false) {
  let sends = 0;
  const tool = toolAt(url, { upstream: { http2 }, limits: { connectMs: 5_000 } });
  const verdict = await adapter.call(attempt(tool, 'a-1'), { mayStart: () => true, onSend: () => sends++ });
  return { verdict, sends };
}

test.each([false, true])(
  'a certificate that nobody trusts is proof that nothing was sent (HTTP/2: %s)',
  async (http2) => {
    let requests = 0;
    const url = await listen(createHttpsServer(selfSigned(), () => requests++).on('tlsClientError', () => {}));
    expect(await call(url, http2)).toMatchObject({
      verdict: { kind: 'not_executed', cause: 'tls_failed', transient: false, sent: false },
      sends: 0,
    });
    expect(requests).toBe(0);
  },
);

test.each<[string, (socket: Socket) => void, string]>([
  ['reset when it is accepted', (socket) => socket.resetAndDestroy(), 'reset_before_send'],
  ['closed when it is accepted', (socket) => socket.end(), 'reset_before_send'],
  ['reset after the first bytes', (socket) => socket.once('data', () => socket.resetAndDestroy()), 'reset_before_send'],
  ['closed after the first bytes', (socket) => socket.once('data', () => socket.end()), 'reset_before_send'],
  [
    'answered in another protocol',
    (socket) => socket.once('data', () => socket.write('HTTP/1.1 400 X\r\n\r\n')),
    'tls_failed',
  ],
  [
    'refused by an alert',
    // handshake_failure (RFC 8446, 6.2).
    (socket) => socket.once('data', () => socket.end(Buffer.from([0x15, 3, 3, 0, 2, 2, 40]))),
    'tls_failed',
  ],
])('a TLS connection that is %s before it is secure is proof that nothing was sent', async (_, act, cause) => {
  const url = await listen(
    createServer((socket) => {
      socket.on('error', () => {});
      act(socket);
    }),
  );
  for (const http2 of [false, true]) {
    expect(await call(url, http2)).toMatchObject({
      verdict: { kind: 'not_executed', cause, transient: cause !== 'tls_failed', sent: false },
      sends: 0,
    });
  }
});

test.each(['end', 'destroy'] as const)(
  'a secure connection that does %s after the request leaves the outcome unknown',
  async (leave) => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    const attempts: unknown[] = [];
    const https = createHttpsServer(selfSigned(), (request) => {
      attempts.push(request.headers['x-attempt-id']);
      request.resume().once('end', () => request.socket[leave]());
    });
    const url = await listen(https);
    expect(await call(url)).toMatchObject({ verdict: { kind: 'unknown', cause: 'reset_after_send' }, sends: 1 });
    expect(attempts).toEqual(['a-1']);
  },
);

test('plain HTTP to a server that wants TLS leaves the outcome unknown', async () => {
  const url = await listen(createHttpsServer(selfSigned(), () => {}).on('tlsClientError', () => {}));
  const { verdict, sends } = await call(url.replace('https:', 'http:'));
  expect(sends).toBe(1);
  expect(verdict).toMatchObject({ kind: 'unknown' });
});

test('TLS to a server that speaks plain HTTP is proof that nothing was sent', async () => {
  const plain = await MisbehavingServer.start();
  plain.script({ at: 'accept', send: 'HTTP/1.1 400 X\r\n\r\n', then: 'close' });
  expect(await call(plain.url.replace('http:', 'https:'))).toMatchObject({
    verdict: { kind: 'not_executed', sent: false },
  });
  expect(plain.requests).toEqual([]);
  await plain.stop();
});
