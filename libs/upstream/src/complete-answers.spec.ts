import { type Behaviour, MisbehavingServer, response, toolAt } from '@intendant/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { attempt } from './asking.spec-helper.js';
import { Upstreams } from './index.js';
import { chunked, cutOrReset, statusLine } from './transport-cases.spec-helper.js';

let server: MisbehavingServer;
let adapter: Upstreams;

beforeEach(async () => {
  server = await MisbehavingServer.start();
  adapter = new Upstreams(() => null);
});
afterEach(async () => {
  await server.stop();
  await adapter.close();
});

const at = 'request';
const act = (attemptId: string, args = {}) =>
  adapter.call(attempt(toolAt(server.url), attemptId, { args }), { mayStart: () => true });

const body = '{"ok":true}';
const whole = { kind: 'executed', data: { ok: true } };
const refused = { kind: 'not_executed', cause: 'http_400', transient: false };
const last = `content-length: ${body.length}\r\n\r\n${body}`;

test.each<[what: string, send: string, then: Behaviour['then'], verdict: object]>([
  ['with a length, then closes', `${statusLine}${last}`, 'close', whole],
  ['in chunks', `${chunked}5\r\n{"ok"\r\n6\r\n:true}\r\n0\r\n\r\n`, 'keep', whole],
  ['in chunks with a trailer', `${chunked}b\r\n${body}\r\n0\r\nx-sum: 1\r\n\r\n`, 'keep', whole],
  ['that ends with the connection', `${statusLine}connection: close\r\n\r\n${body}`, 'close', whole],
  ['of HTTP/1.0', `HTTP/1.0 200 OK\r\n\r\n${body}`, 'close', whole],
  ['without a reason', `HTTP/1.1 200\r\n${last}`, 'keep', whole],
  ['after a 102', `HTTP/1.1 102 X\r\n\r\n${statusLine}${last}`, 'keep', whole],
  ['after several 103', `${'HTTP/1.1 103 X\r\nlink: <a>\r\n\r\n'.repeat(3)}${statusLine}${last}`, 'keep', whole],
  ['of refusal after a 103', `HTTP/1.1 103 X\r\n\r\nHTTP/1.1 400 X\r\n${last}`, 'keep', refused],
  ['of refusal, then closes', `HTTP/1.1 400 X\r\n${last}`, 'close', refused],
  ['that calls its JSON HTML', `${statusLine}content-type: text/html\r\n${last}`, 'keep', whole],
  ['with a byte order mark', response(200, `\ufeff${body}`), 'keep', whole],
])('a complete answer %s counts as what it is', async (_, send, then, verdict) => {
  server.script({ at, send, then });
  expect(await act('a-1')).toMatchObject(verdict);
  expect(server.wireRequests('a-1')).toBe(1);
});

test.each([
  ['that calls its HTML JSON', response(200, '<html>ok</html>', { 'content-type': 'application/json' })],
  ['compressed though nobody asked', response(200, '\u001f\u008b\u0008', { 'content-encoding': 'gzip' })],
  ['in UTF-16', response(200, '{\0"\0o\0k\0"\0:\x001\0}\0', { 'content-type': 'application/json; charset=utf-16' })],
  ['of two values', response(200, '{"ok":true}{"ok":true}')],
  ['with a number that JSON does not know', response(200, '{"ok":NaN}')],
])('a success %s has no receipt', async (_, send) => {
  server.script({ at, send, then: 'keep' });
  expect(await act('a-1')).toMatchObject({ kind: 'unknown', cause: 'no_receipt' });
  expect(server.wireRequests('a-1')).toBe(1);
});

test.each([
  ['with a length', `${statusLine}content-length: 1000000000\r\n\r\n`],
  ['that ends with the connection', `${statusLine}connection: close\r\n\r\n`],
])('an endless answer %s is read to the limit and no further', async (_, send) => {
  server.script({ at, send, drip: 'x'.repeat(300_000), then: 'keep' });
  expect(await act('a-1')).toMatchObject({ kind: 'unknown', cause: 'response_too_large' });
  await adapter.close();
  expect(server.wireRequests('a-1')).toBe(1);
});

test.each(['reset', 'close', 'keep'] as const)(
  'an upstream that refuses a long request before it has read it, then does %s, is asked once',
  async (then) => {
    server.script({ at: 'headers', send: `HTTP/1.1 413 X\r\nconnection: close\r\n${last}`, then });
    const verdict = await act('a-1', { text: 'x'.repeat(4_000_000) });
    // A reset may overtake the answer.
    if (verdict.kind === 'unknown') expect(verdict.cause).toMatch(cutOrReset);
    else expect(verdict).toMatchObject({ kind: 'not_executed', cause: 'http_413' });
    await adapter.close();
    expect(server.wireRequests('a-1')).toBe(1);
  },
);

test('a second answer to one request is never taken for the answer to the next', async () => {
  const second = response(200, '{"of":"nobody"}');
  server.script({ at, send: response(200, '{"n":1}') + second, then: 'keep' });
  expect(await act('a-1')).toEqual({ kind: 'executed', data: { n: 1 } });
  server.script({ at, send: response(200, '{"n":2}'), then: 'keep' });
  expect(await act('a-2')).toEqual({ kind: 'executed', data: { n: 2 } });

  // The same when it comes while the connection is idle.
  server.writeToConnections(second);
  server.script({ at, send: response(200, '{"n":3}'), then: 'keep' });
  const verdict = await act('a-3');
  expect(verdict).not.toMatchObject({ data: { of: 'nobody' } });
  expect(server.wireRequests('a-3')).toBe(verdict.kind === 'not_executed' ? 0 : 1);
});
