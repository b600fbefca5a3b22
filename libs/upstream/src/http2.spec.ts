import { type H2Behaviour, h2, h2Frame, MisbehavingH2Server, MisbehavingServer, toolAt } from '@intendant/testing';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { asking, attempt } from './asking.spec-helper.js';
import { type CallOptions, Upstreams } from './index.js';
import { statusTable } from './status-table.js';

let server: MisbehavingH2Server;
let adapter: Upstreams;

beforeEach(async () => {
  // The certificate is not what these tests are about; see tls.spec.ts.
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  server = await MisbehavingH2Server.start();
  adapter = new Upstreams(() => null);
});
afterEach(async () => {
  await adapter.close();
  await server.stop();
  vi.unstubAllEnvs();
});

const tool = (callMs = 10_000, url = server.url) =>
  toolAt(url, { upstream: { http2: true }, limits: { callMs }, lookup: { present: 'true', receipt: null } });

const call = (attemptId: string, callMs?: number, options: Partial<CallOptions> = {}) =>
  adapter.call(attempt(tool(callMs), attemptId), { mayStart: () => true, ...options });

const whole = { kind: 'executed', data: { ok: true } };
const start = (stream: number, headers = {}) =>
  Buffer.concat([h2.headers(stream, 200, headers), h2.data(stream, '{"ok":', false)]);

const codes = {
  ...{ NO_ERROR: 0, PROTOCOL_ERROR: 1, INTERNAL_ERROR: 2, REFUSED_STREAM: 7, CANCEL: 8 },
  ...{ ENHANCE_YOUR_CALM: 11, HTTP_1_1_REQUIRED: 13 },
};

interface Case {
  readonly name: string;
  readonly behaviour: H2Behaviour;
  readonly callMs?: number;
}

const silent = { callMs: 300 };

/** `REFUSED_STREAM` and a GOAWAY below the stream invite to send again (RFC 9113, 8.7); whoever passes them on may have sent already. */
const cases: readonly Case[] = [
  ...Object.entries(codes).flatMap(([name, code]): Case[] => [
    { name: `resets the request with ${name}`, behaviour: { send: (stream) => h2.reset(stream, code) } },
    {
      name: `resets the answer with ${name}`,
      behaviour: { send: (stream) => Buffer.concat([start(stream), h2.reset(stream, code)]) },
    },
    {
      name: `resets an answer that has a length with ${name}`,
      behaviour: {
        send: (stream) => Buffer.concat([start(stream, { 'content-length': '11' }), h2.reset(stream, code)]),
      },
    },
    { name: `goes away with ${name} without having taken the request`, behaviour: { send: () => h2.goaway(0, code) } },
    { name: `goes away with ${name} with the request taken`, behaviour: { send: (stream) => h2.goaway(stream, code) } },
    {
      name: `goes away with ${name} in the middle of its answer`,
      behaviour: { send: (stream) => Buffer.concat([start(stream), h2.goaway(stream, code)]) },
    },
    { name: `goes away with ${name} and hangs up`, behaviour: { send: () => h2.goaway(0, code), then: 'end' } },
  ]),
  { name: 'hangs up', behaviour: { then: 'end' } },
  { name: 'drops the connection', behaviour: { then: 'drop' } },
  { name: 'hangs up in the middle of its answer', behaviour: { send: start, then: 'end' } },
  { name: 'drops the connection in the middle of its answer', behaviour: { send: start, then: 'drop' } },
  { name: 'hangs up after a 103', behaviour: { send: (stream) => h2.headers(stream, 103), then: 'end' } },
  {
    name: 'answers less than it says',
    behaviour: { send: (stream) => h2.answer(stream, 200, '{"ok":true}', { 'content-length': '12' }) },
  },
  {
    name: 'answers more than it says',
    behaviour: { send: (stream) => h2.answer(stream, 200, '{"ok":true}', { 'content-length': '10' }) },
  },
  { name: 'answers on a stream that nobody opened', behaviour: { send: (stream) => h2.answer(stream + 2, 200, '{}') } },
  {
    name: 'promises what was not allowed',
    behaviour: { send: (stream) => h2Frame(5, 4, stream, Buffer.from([0, 0, 0, 2, 0x82])) },
  },

  { name: 'is silent', behaviour: {}, ...silent },
  { name: 'is silent in the middle of its answer', behaviour: { send: start }, ...silent },
  { name: 'is silent after a 103', behaviour: { send: (stream) => h2.headers(stream, 103) }, ...silent },
  {
    name: 'answers in HTTP/1.1',
    behaviour: { send: () => Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n') },
    ...silent,
  },
  { name: 'sends data before headers', behaviour: { send: (stream) => h2.data(stream, '{"ok":true}') }, ...silent },
  {
    name: 'sends a frame that is too large',
    behaviour: { send: (stream) => h2.data(stream, ' '.repeat(40_000)) },
    ...silent,
  },
  {
    name: 'sends headers that cannot be read',
    behaviour: { send: (stream) => h2Frame(1, 4, stream, Buffer.alloc(5, 0xff)) },
    ...silent,
  },
];

test.each(cases)(
  'an upstream that $name leaves the outcome unknown, and neither repeats nor poisons a request',
  async ({ behaviour, callMs }) => {
    for (const warm of [false, true]) {
      if (warm) expect(await call('warm')).toEqual(whole);
      const before = server.requests;
      server.script(behaviour);
      expect(await call('a-1', callMs)).toMatchObject({ kind: 'unknown' });
      expect(server.requests - before).toBe(1);
      // At once, while the broken connection may not have been noticed.
      expect(await call('a-2')).toEqual(whole);
      expect(server.requests - before).toBe(2);
    }
    expect(await adapter.lookup(asking(tool()))).toMatchObject({ kind: 'present' });
    server.script(behaviour);
    expect(await adapter.lookup(asking(tool(300)))).toMatchObject({ kind: 'cannot_tell' });
  },
);

test.each([...statusTable])('status %i means the same over HTTP/2', async (status, { meaning, transient }) => {
  const body = status === 204 ? '' : '{"ok":true}';
  server.script({ send: (stream) => h2.answer(stream, status, body, { location: '/elsewhere', 'retry-after': '2' }) });
  const verdict = await call('a-1');
  expect(verdict.kind).toBe(meaning);
  if (verdict.kind === 'not_executed') {
    expect(verdict).toMatchObject({ cause: `http_${status}`, transient, retryAfterMs: transient ? 2_000 : null });
  }
  expect(server.requests).toBe(1);
});

describe('a complete answer counts', () => {
  test.each<[string, (stream: number) => Buffer]>([
    ['after a 103', (stream) => Buffer.concat([h2.headers(stream, 103), h2.answer(stream, 200, '{"ok":true}')])],
    ['in pieces', (stream) => Buffer.concat([start(stream), h2.data(stream, 'true', false), h2.data(stream, '}')])],
    [
      'with trailers',
      (stream) =>
        Buffer.concat([
          start(stream),
          h2.data(stream, 'true}', false),
          h2Frame(1, 5, stream, Buffer.from([0, 1, 0x61, 1, 0x62])),
        ]),
    ],
    ['with a reset behind it', (stream) => Buffer.concat([h2.answer(stream, 200, '{"ok":true}'), h2.reset(stream, 0)])],
    [
      'with a GOAWAY behind it',
      (stream) => Buffer.concat([h2.answer(stream, 200, '{"ok":true}'), h2.goaway(stream, 0)]),
    ],
  ])('%s', async (_, send) => {
    server.script({ send });
    expect(await call('a-1')).toEqual(whole);
    expect(server.requests).toBe(1);
  });
});

test('a GOAWAY in the very moment of the next request never makes two of it', async () => {
  await call('a-0');
  for (let n = 1; n <= 40; n++) {
    const before = server.requests;
    server.writeToConnections(h2.goaway(2 ** 31 - 1, n % 2));
    for (let turn = 0; turn < n % 4; turn++) await new Promise((done) => setImmediate(done));
    const verdict = await call(`a-${n}`);
    const requests = server.requests - before;
    expect(requests).toBeLessThanOrEqual(1);
    if (verdict.kind === 'not_executed') expect({ requests, sent: verdict.sent }).toEqual({ requests: 0, sent: false });
    if (verdict.kind === 'executed') expect(requests).toBe(1);
  }
});

test('a request that the upstream does not let out yet is not sent after its end', async () => {
  server.script({ send: (stream) => Buffer.concat([h2.streams(0), h2.answer(stream, 200, '{"ok":true}')]) });
  await call('a-1');
  expect(await call('a-2', 300)).toMatchObject({ kind: 'unknown', cause: 'call_timeout' });
  server.writeToConnections(h2.streams(100));
  await adapter.close();
  expect(server.requests).toBe(1);
});

test('one connection serves one request after another, and many at the same time share none', async () => {
  for (let n = 0; n < 5; n++) expect(await call(`a-${n}`)).toEqual(whole);
  expect(server.connections).toBe(1);
  server.script(...Array.from({ length: 10 }, () => ({})));
  const controller = new AbortController();
  const calls = Array.from({ length: 10 }, (_, n) => call(`b-${n}`, 10_000, { signal: controller.signal }));
  await server.seen(15);
  expect(server.connections).toBe(10);
  controller.abort();
  for (const verdict of await Promise.all(calls)) expect(verdict).toMatchObject({ kind: 'unknown', cause: 'aborted' });
});

test('a lease that is over when the connection stands sends nothing', async () => {
  expect(await call('a-1', 10_000, { mayStart: () => false })).toMatchObject({ cause: 'lease_over', sent: false });
  expect(await call('a-2')).toEqual(whole);
  expect(server.requests).toBe(1);
});

test('a gigantic answer is not read to its end', async () => {
  const small = new Upstreams(() => null, { maxResponseBytes: 1_000 });
  server.script({
    send: (stream) => Buffer.concat([h2.headers(stream, 200), h2.data(stream, ' '.repeat(10_000), false)]),
  });
  const verdict = await small.call(attempt(tool(), 'a-1'), { mayStart: () => true });
  expect(verdict).toMatchObject({ kind: 'unknown', cause: 'response_too_large' });
  await small.close();
  expect(server.requests).toBe(1);
});

test.each(['proxy-connection', 'te', 'http2-settings', 'connection', 'keep-alive', 'upgrade', 'expect'])(
  'a tool that sets the header %s sends nothing',
  async (name) => {
    const odd = toolAt(server.url, { upstream: { http2: true, headers: { [name]: 'x' } } });
    const verdict = await adapter.call(attempt(odd, 'a-1'), { mayStart: () => true });
    expect(verdict).toMatchObject({ kind: 'not_executed', cause: 'request_mapping', sent: false });
    expect(server.connections).toBe(0);
  },
);

test('HTTP/2 is spoken only where the tool says so', async () => {
  const verdict = await adapter.call(attempt(toolAt(server.url), 'a-1'), { mayStart: () => true });
  expect(verdict).toMatchObject({ kind: 'not_executed', cause: 'tls_failed', sent: false });
  expect(await call('a-2')).toEqual(whole);
});

test('a tool that says so is served over HTTP/1.1 where there is nothing else', async () => {
  const plain = await MisbehavingServer.start();
  for (let n = 0; n < 3; n++) {
    const verdict = await adapter.call(attempt(tool(10_000, plain.url), `a-${n}`), { mayStart: () => true });
    expect(verdict).toEqual(whole);
    expect(plain.wireRequests(`a-${n}`)).toBe(1);
  }
  expect(plain.connections).toBe(1);
  await plain.stop();
});

test('a refused connection is proof that nothing was sent', async () => {
  const gone = await MisbehavingServer.start();
  const url = gone.url.replace('http:', 'https:');
  await gone.stop();
  const verdict = await adapter.call(attempt(tool(10_000, url), 'a-1'), { mayStart: () => true });
  expect(verdict).toMatchObject({ kind: 'not_executed', cause: 'connect_refused', sent: false });
});
