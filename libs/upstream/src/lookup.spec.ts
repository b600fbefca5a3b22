import type { JsonObject } from '@intendant/intent';
import { MisbehavingServer, response, type ToolChanges, toolAt } from '@intendant/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Upstreams, type ValidateOutput } from './index.js';

const needsId: ValidateOutput = (_, data) =>
  typeof data === 'object' && data !== null && 'id' in data ? null : 'id is missing';

let server: MisbehavingServer;
let adapter: Upstreams;

beforeAll(async () => {
  server = await MisbehavingServer.start();
  adapter = new Upstreams(needsId, { maxResponseBytes: 10_000 });
});
afterAll(async () => {
  await adapter.close();
  await server.stop();
});

function answered(answer: string, changes: ToolChanges = {}, args: JsonObject = { order: 'o1' }) {
  server.script({ at: 'request', send: answer, then: 'keep' });
  return asked(changes, args);
}

function asked(changes: ToolChanges, args: JsonObject) {
  const tool = toolAt(server.url, { ...changes, lookup: { absentStatuses: [], ...changes.lookup } });
  return adapter.lookup({
    tool,
    args,
    key: 'key 1',
    intentId: 'i',
    tenant: 't',
    runId: 'run_1',
    sandbox: false,
  });
}

const json = (body: unknown) => response(200, JSON.stringify(body));

test('a lookup asks with the key in its address and none among its headers, and with the credentials of the tool', async () => {
  await answered(json([]), { upstream: { headers: { Authorization: 'Bearer t' } }, lookup: {} });
  const request = server.requests.at(-1);
  expect(request).toMatchObject({ method: 'GET', path: '/acts?key=key%201', headers: { authorization: 'Bearer t' } });
  expect(request?.headers).not.toHaveProperty('idempotency-key');
  expect(request?.headers).not.toHaveProperty('x-attempt-id');
});

test.each([
  { of: 'query', lookup: { path: '/acts?reference={{order}}' } },
  { of: 'header', lookup: { path: '/acts', headers: { 'X-Reference': '{{order}}' } } },
])('an empty value in the $of of a lookup asks for everything, so it is not asked', async ({ lookup }) => {
  const before = server.requests.length;
  for (const order of ['', ' ']) {
    expect(await asked({ lookup }, { order })).toEqual({
      kind: 'cannot_tell',
      detail: '{{order}} is empty, which asks for everything',
    });
  }
  expect(server.requests.length).toBe(before);
  // The headers of the tool say who asks, and may be empty as in a call.
  const upstream = { headers: { 'X-Note': '{{order}}' } };
  expect(await answered(json([]), { upstream, lookup: {} }, { order: '' })).toEqual({ kind: 'absent' });
});

test('an effect that is found gives its receipt, from a bare list and from an envelope', async () => {
  expect(await answered(json([{ id: 'r1' }]))).toEqual({ kind: 'present', data: { id: 'r1' } });
  expect(await answered(json({ data: [{ id: 'r1' }], more: false }))).toEqual({ kind: 'present', data: { id: 'r1' } });
});

test('the whole answer is the receipt when none is selected, and every name of it can be used', async () => {
  const lookup = { present: '$status = 200 and state = "done" and $data.state = data.state', receipt: null };
  expect(await answered(json({ id: 'r1', state: 'done' }), { lookup })).toEqual({
    kind: 'present',
    data: { id: 'r1', state: 'done' },
  });
});

test('an empty answer is absence', async () => {
  expect(await answered(json([]))).toEqual({ kind: 'absent' });
  expect(await answered(json({ data: [] }))).toEqual({ kind: 'absent' });
});

test('404 is no absence, whatever the path names: a proxy without a backend says it as well', async () => {
  for (const path of ['/acts/{{key}}', '/acts?key={{key}}']) {
    expect(await answered(response(404), { lookup: { path } })).toEqual({
      kind: 'cannot_tell',
      detail: 'the lookup answered 404',
    });
  }
});

test('a status that the tool file declares is absence, and no other is', async () => {
  const lookup = { path: '/acts/{{key}}', absentStatuses: [404, 410] };
  expect(await answered(response(404, '<html>'), { lookup })).toEqual({ kind: 'absent' });
  expect(await answered(response(410), { lookup })).toEqual({ kind: 'absent' });
  expect(await answered(response(403), { lookup })).toMatchObject({ kind: 'cannot_tell' });
});

test.each([201, 204, 206, 301, 302, 400, 401, 403, 404, 410, 429, 500, 503])(
  'status %i of a lookup is "cannot tell"',
  async (status) => {
    expect(await answered(response(status, status === 204 ? '' : '[]'))).toMatchObject({ kind: 'cannot_tell' });
  },
);

const inconclusive = [
  { name: 'no JSON', answer: response(200, '<html>') },
  { name: 'nothing', answer: response(200) },
  { name: 'more than is read', answer: json([{ id: 'x'.repeat(100_000) }]) },
  { name: 'a receipt that breaks the schema', answer: json([{ other: 1 }]) },
  { name: 'an error in place of a list', answer: json({ error: 'index is down' }) },
];

test.each(inconclusive)('a lookup that answers $name cannot tell', async ({ answer }) => {
  expect(await answered(answer)).toMatchObject({ kind: 'cannot_tell' });
});

test.each(['$count(data)', '"yes"', 'missing', '$error("no")', 'data[', '$eval("true")'])(
  '"present: %s" cannot tell',
  async (present) => {
    expect(await answered(json([{ id: 'r1' }]), { lookup: { present } })).toMatchObject({ kind: 'cannot_tell' });
  },
);

test('a receipt that cannot be selected cannot tell', async () => {
  expect(await answered(json([{ id: 'r1' }]), { lookup: { receipt: 'data[7]' } })).toMatchObject({
    kind: 'cannot_tell',
  });
});

test('an address that cannot be filled in, a sandbox and a missing lookup cannot tell', async () => {
  const request = { args: {}, key: 'k', intentId: 'i', tenant: 't', runId: 'run_1' };
  const unfillable = toolAt(server.url, { lookup: { path: '/acts/{{missing}}' } });
  expect(await adapter.lookup({ ...request, tool: unfillable, sandbox: false })).toMatchObject({ kind: 'cannot_tell' });
  const none = toolAt(server.url, { upstream: { lookup: null } });
  expect(await adapter.lookup({ ...request, tool: none, sandbox: false })).toMatchObject({ kind: 'cannot_tell' });
  expect(await adapter.lookup({ ...request, tool: toolAt(server.url), sandbox: true })).toMatchObject({
    kind: 'cannot_tell',
  });
});

describe('an effect of several parts', () => {
  const lookup = {
    present: '$count(data.sent) > 0',
    receipt: 'data',
    count: 'data.sent ~> $count',
    parts: '$count(args.lines)',
  };
  const sent = (...ids: number[]) => json({ data: { id: 'b1', sent: ids } });
  const asked = (answer: string, lines: number[], changes = {}) =>
    answered(answer, { lookup: { ...lookup, ...changes } }, { lines });

  test('is there when all of them are', async () => {
    expect(await asked(sent(1, 2, 3), [1, 2, 3])).toEqual({
      kind: 'present',
      data: { id: 'b1', sent: [1, 2, 3] },
      excess: 0,
    });
  });

  test('is there in part when some of them are', async () => {
    expect(await asked(sent(1), [1, 2, 3])).toEqual({
      kind: 'partial',
      data: { id: 'b1', sent: [1] },
      detail: '1 of 3 parts are there',
    });
  });

  test('is there too often when more of them are', async () => {
    expect(await asked(sent(1, 2, 3, 1, 2, 3), [1, 2, 3])).toMatchObject({ kind: 'present', excess: 3 });
  });

  test('of one part is told from two of its kind', async () => {
    const single = { present: '$count(data) > 0', receipt: 'data[0]', count: '$count(data)' };
    expect(await answered(json([{ id: 'r1' }]), { lookup: single })).toEqual({
      kind: 'present',
      data: { id: 'r1' },
      excess: 0,
    });
    expect(await answered(json([{ id: 'r1' }, { id: 'r2' }]), { lookup: single })).toMatchObject({
      kind: 'present',
      data: { id: 'r1' },
      excess: 1,
    });
    expect(await answered(json([]), { lookup: single })).toEqual({ kind: 'absent' });
  });

  test('in part without a receipt that fits cannot tell', async () => {
    expect(await asked(json({ data: { sent: [1] } }), [1, 2])).toMatchObject({
      kind: 'cannot_tell',
      detail: 'present, but the receipt is wrong: id is missing',
    });
  });

  test.each([
    ['present and none', { count: '0' }, 'present, but "count" is 0'],
    ['absent and some', { present: 'false' }, 'not present, but "count" is 2'],
    ['a count that is a text', { count: '"2"' }, '"count" is not a whole number'],
    ['a count that is broken', { count: '1.5' }, '"count" is not a whole number'],
    ['a negative count', { count: '-1' }, '"count" is not a whole number'],
    ['a count of nothing', { count: 'data.missing' }, '"count" is not a whole number'],
    ['a count that fails', { count: '$error("no index")' }, 'no index'],
    ['no parts at all', { parts: '0' }, '"parts" is not a whole number, 1 or more'],
    ['parts of nothing', { parts: 'args.missing' }, '"parts" is not a whole number, 1 or more'],
    ['parts that fail', { parts: '$error("no lines")' }, 'no lines'],
  ])('that says %s cannot tell', async (_, changes, why) => {
    expect(await asked(sent(1, 2), [1, 2], changes)).toMatchObject({
      kind: 'cannot_tell',
      detail: expect.stringContaining(why),
    });
  });
});
