import { MisbehavingServer, response, type ToolChanges, toolAt } from '@intendant/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
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

async function answered(answer: string, changes: ToolChanges = {}) {
  server.script({ at: 'request', send: answer, then: 'keep' });
  const tool = toolAt(server.url, { ...changes, lookup: { absentStatuses: [], ...changes.lookup } });
  return adapter.lookup({
    tool,
    args: { order: 'o1' },
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
  expect(await answered(json([]), { lookup: { path: '/acts/{{missing}}' } })).toMatchObject({ kind: 'cannot_tell' });
  const request = { args: {}, key: 'k', intentId: 'i', tenant: 't', runId: 'run_1' };
  const none = toolAt(server.url, { upstream: { lookup: null } });
  expect(await adapter.lookup({ ...request, tool: none, sandbox: false })).toMatchObject({ kind: 'cannot_tell' });
  expect(await adapter.lookup({ ...request, tool: toolAt(server.url), sandbox: true })).toMatchObject({
    kind: 'cannot_tell',
  });
});
