import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { buffer, json } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type FaultProxy, startFaultProxy } from './fault-proxy.js';

interface Got {
  readonly host: string | undefined;
  readonly body: string;
}

const server = createServer();
let got: Got[];
let proxy: FaultProxy;
/** Connections of its own: others may have been to the same port before. */
let agent: Agent;

beforeEach(async () => {
  got = [];
  agent = new Agent({ keepAlive: true });
  server.removeAllListeners('request').on('request', (request: IncomingMessage, response) => {
    buffer(request).then(
      (body) => {
        got.push({ host: request.headers.host, body: body.toString() });
        response.writeEarlyHints({ link: '</x>; rel=preload' });
        response.writeHead(201, { 'content-type': 'application/json' }).end('{"id":1}');
      },
      () => server.emit('incomplete'),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  proxy = await startFaultProxy(new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
});

afterEach(async () => {
  agent.destroy();
  await proxy.close();
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

async function post(attemptId: string, body: string | ReadableStream = 'hello') {
  const headers = { 'x-attempt-id': attemptId, ...(typeof body === 'string' && { 'content-length': body.length }) };
  const asked = request(proxy.origin, { method: 'POST', agent, headers });
  Readable.from(typeof body === 'string' ? [body] : body).pipe(asked);
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  return { status: response.statusCode, body: await json(response) };
}

test('passes requests on under the name of the upstream, over one connection, and writes each down', async () => {
  expect((await post('a-1')).body).toEqual({ id: 1 });
  expect((await post('a-2')).body).toEqual({ id: 1 });
  expect(got).toEqual([
    { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, body: 'hello' },
    { host: expect.any(String), body: 'hello' },
  ]);
  expect(proxy.all()).toMatchObject([
    { attemptId: 'a-1', status: 201, passedAt: expect.any(Number) },
    { attemptId: 'a-2', status: 201, passedAt: expect.any(Number) },
  ]);
});

test('finds the end of a body that comes in chunks', async () => {
  const chunks = new Blob(['first 0\r\n\r\n', 'x'.repeat(70_000)]).stream();
  expect((await post('a-1', chunks)).status).toBe(201);
  expect(got[0]?.body).toBe(`first 0\r\n\r\n${'x'.repeat(70_000)}`);
  expect((await post('a-2')).status).toBe(201);
  expect(proxy.seen('a-2')).toHaveLength(1);
});

test('loses an answer after the upstream gave it, once, and reads what was lost', async () => {
  const struck = proxy.arm('a-1', { kind: 'cut_answer' });
  await expect(post('a-1')).rejects.toThrow();
  expect(await struck).toMatchObject({ status: 201, body: null });
  expect(got).toHaveLength(1);
  expect((await post('a-1')).status).toBe(201);
  expect(proxy.seen('a-1')).toHaveLength(2);
});

test('replaces an answer after the upstream gave it', async () => {
  const struck = proxy.arm('a-1', { kind: 'replace_answer', status: 503 });
  expect((await post('a-1')).status).toBe(503);
  expect(await struck).toMatchObject({ status: 201 });
  expect(got).toHaveLength(1);
});

test('cuts the connection once the whole request has passed', async () => {
  const struck = proxy.arm('a-1', { kind: 'cut_before_answer' });
  await expect(post('a-1')).rejects.toThrow();
  await struck;
  await expect.poll(() => got.length).toBe(1);
});

test.each(['hello', ''])('holds back the end of a request until its client is gone (body "%s")', async (body) => {
  const struck = proxy.arm('a-1', { kind: 'hold_body' });
  const client = connect(Number(new URL(proxy.origin).port), '127.0.0.1');
  client.write(`POST / HTTP/1.1\r\nHost: x\r\nX-Attempt-Id: a-1\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  await struck;
  const gone = body === '' ? Promise.resolve() : once(server, 'incomplete');
  client.destroy();
  await gone;
  expect(got).toEqual([]);
  expect(proxy.seen('a-1')).toMatchObject([{ passedAt: null, status: null }]);
});

test('holds back an answer until the client is gone', async () => {
  const struck = proxy.arm('a-1', { kind: 'hold_answer' });
  const client = connect(Number(new URL(proxy.origin).port), '127.0.0.1');
  let answered = false;
  client.on('data', () => {
    answered = true;
  });
  client.write('POST / HTTP/1.1\r\nHost: x\r\nX-Attempt-Id: a-1\r\nContent-Length: 2\r\n\r\nhi');
  await struck;
  await expect.poll(() => proxy.seen('a-1')[0]?.status).toBe(201);
  expect(answered).toBe(false);
  client.destroy();
});
