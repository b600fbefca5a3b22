import type { HttpUpstream } from '@intendant/contracts';
import type { JsonObject } from '@intendant/intent';
import { MisbehavingServer, toolAt } from '@intendant/testing';
import { runtimeHeaders } from '@intendant/tools';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Upstreams } from './index.js';

let server: MisbehavingServer;
let adapter: Upstreams;
let attempts = 0;

beforeAll(async () => {
  server = await MisbehavingServer.start();
  adapter = new Upstreams(() => null);
});
afterAll(async () => {
  await adapter.close();
  await server.stop();
});

const call = (upstream: Partial<HttpUpstream>, args: JsonObject) =>
  adapter.call(
    {
      tool: toolAt(server.url, { upstream }),
      args,
      key: 'key-1',
      intentId: 'int-1',
      tenant: 't',
      runId: 'run_1',
      attemptId: `a-${++attempts}`,
      sandbox: false,
    },
    { mayStart: () => true },
  );

async function sent(upstream: Partial<HttpUpstream>, args: JsonObject) {
  expect(await call(upstream, args)).toMatchObject({ kind: 'executed' });
  const request = server.requests.at(-1);
  if (request === undefined) throw new Error('nothing was sent');
  return request;
}

async function expectRefused(upstream: Partial<HttpUpstream>, args: JsonObject) {
  const before = server.requests.length;
  expect(await call(upstream, args)).toMatchObject({
    kind: 'not_executed',
    sent: false,
    cause: 'request_mapping',
    transient: false,
  });
  expect(server.requests.length).toBe(before);
}

test('every call carries the key, its own attempt id and the arguments as JSON', async () => {
  const first = await sent({}, { amount: 5, text: 'é', nested: { list: [1, null] } });
  const second = await sent({}, { amount: 5 });
  expect(first.headers).toMatchObject({ 'idempotency-key': 'key-1', 'content-type': 'application/json' });
  expect(JSON.parse(first.body.text)).toEqual({ amount: 5, text: 'é', nested: { list: [1, null] } });
  expect(second.headers['idempotency-key']).toBe('key-1');
  expect(second.headers['x-attempt-id']).not.toBe(first.headers['x-attempt-id']);
});

test('path, headers and body are filled in from the request', async () => {
  const request = await sent(
    {
      baseUrl: `${server.url}/v2/`,
      method: 'PUT',
      path: '/orders/{{order}}/refunds/{{ key }}?i={{intentId}}&n={{args.n}}',
      headers: { 'X-Order': 'o {{n}}', 'content-type': 'application/merge-patch+json' },
      body: '{ "order": $args.order, "ref": key, "lines": args.lines.{ "id": id } }',
    },
    { order: 'ä/1 &?#', n: 2, lines: [{ id: 1 }, { id: 2 }] },
  );
  expect(request.method).toBe('PUT');
  expect(request.path).toBe('/v2/orders/%C3%A4%2F1%20%26%3F%23/refunds/key-1?i=int-1&n=2');
  expect(request.headers).toMatchObject({ 'x-order': 'o 2', 'content-type': 'application/merge-patch+json' });
  expect(JSON.parse(request.body.text)).toEqual({ order: 'ä/1 &?#', ref: 'key-1', lines: [{ id: 1 }, { id: 2 }] });
});

test.each([...runtimeHeaders])("the header %s is the runtime's alone", async (name) => {
  await expectRefused({ headers: { [name.toUpperCase()]: 'x' } }, {});
});

test('a call without a body expression has no body', async () => {
  const request = await sent({ method: 'DELETE', body: null }, { n: 1 });
  expect(request.body.text).toBe('');
  expect(request.headers).not.toHaveProperty('content-type');
});

test.each([['..'], ['.'], ['../admin'], ['a/../../admin'], ['..\\admin'], [''], [null], [{ a: 1 }], [[1]], ['\ud800']])(
  'the value %j cannot lead a path elsewhere',
  async (order) => {
    await expectRefused({ path: '/orders/{{order}}' }, { order });
  },
);

test('dots cannot be put together from template and value', async () => {
  await expectRefused({ path: '/orders/.{{order}}/x' }, { order: '.' });
});

test('a path cannot name another server', async () => {
  await expectRefused({ path: '//other.example/x' }, {});
  await expectRefused({ path: 'http://other.example/x' }, {});
  await expectRefused({ baseUrl: 'file:///etc', path: '/passwd' }, {});
});

test('a placeholder reads own fields only', async () => {
  await expectRefused({ path: '/orders/{{constructor}}' }, {});
  await expectRefused({ path: '/orders/{{args.toString}}' }, {});
  await expectRefused({ path: '/orders/{{missing}}' }, { order: 1 });
});

test.each([['a\r\nX-Evil: 1'], ['a\nb'], ['a\u0000'], ['a\u007f'], ['ä']])(
  'the value %j cannot stand in a header or split it',
  async (value) => {
    await expectRefused({ headers: { 'X-Note': '{{note}}' } }, { note: value });
  },
);

test('a tool cannot replace the key or the attempt id', async () => {
  await expectRefused({ headers: { 'idempotency-key': 'fixed' } }, {});
  await expectRefused({ headers: { 'X-ATTEMPT-ID': 'fixed' } }, {});
});

test.each([
  '$args.',
  '$args.x + {}',
  'nothing.here',
  'function($x) { $x }',
  '$eval(args.code)',
  '$map([args.code], $eval)',
  '($f := function() { $f() + 1 }; $f())',
])('the body expression %s gives no request', async (body) => {
  await expectRefused({ body }, { code: '{ "a": 1 }', x: 'text' });
});
