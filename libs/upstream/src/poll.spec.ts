import type { HttpPoll } from '@intendant/contracts';
import type { Json } from '@intendant/intent';
import { MisbehavingServer, response, toolAt } from '@intendant/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { asking, attempt } from './asking.spec-helper.js';
import { Upstreams, type ValidateOutput } from './index.js';

const needsId: ValidateOutput = (_, data) =>
  typeof data === 'object' && data !== null && 'id' in data ? null : 'id is missing';

let server: MisbehavingServer;
let adapter: Upstreams;
let attempts = 0;

beforeAll(async () => {
  server = await MisbehavingServer.start();
  adapter = new Upstreams(needsId, { maxResponseBytes: 10_000 });
});
afterAll(async () => {
  await adapter.close();
  await server.stop();
});

const rule: HttpPoll = {
  method: 'GET',
  path: '/operations/{{accepted.id}}',
  headers: {},
  executed: 'state = "done"',
  failed: 'state = "failed"',
  receipt: 'result',
};

function polled(answer: string | Buffer, changes: Partial<HttpPoll> = {}, accepted: Json = { id: 'op 7' }) {
  server.script({ at: 'request', send: answer, then: 'keep' });
  return poll(changes, accepted);
}

const poll = (changes: Partial<HttpPoll>, accepted: Json, baseUrl = server.url) => {
  const tool = toolAt(baseUrl, { upstream: { poll: { ...rule, ...changes }, headers: { Authorization: 'Bearer t' } } });
  return adapter.poll({ ...asking(tool), accepted });
};

const json = (body: unknown) => response(200, JSON.stringify(body));

async function accepted(headers: Record<string, string>, body = '', baseUrl = server.url) {
  server.script({ at: 'request', send: response(202, body, headers), then: 'keep' });
  const tool = toolAt(baseUrl);
  const verdict = await adapter.call(attempt(tool, `a-${++attempts}`), { mayStart: () => true });
  if (verdict.kind !== 'accepted') throw new Error(verdict.kind);
  return verdict.data;
}

test('an empty value in the query of a poll asks for everything, so it is not asked', async () => {
  const before = server.requests.length;
  expect(await poll({ path: '/operations?id={{accepted.id}}' }, { id: '' })).toEqual({
    kind: 'pending',
    detail: '{{accepted.id}} is empty, which asks for everything',
  });
  expect(server.requests.length).toBe(before);
});

test('a poll asks for what the upstream promised, as the tool does, and without its key', async () => {
  await polled(json({ state: 'queued' }));
  const request = server.requests.at(-1);
  expect(request).toMatchObject({
    method: 'GET',
    path: '/operations/op%207',
    headers: { authorization: 'Bearer t' },
    body: { text: '' },
  });
  expect(request?.headers).not.toHaveProperty('idempotency-key');
  expect(request?.headers).not.toHaveProperty('x-attempt-id');
});

test('what was done gives its receipt, what was given up gives what it said', async () => {
  expect(await polled(json({ state: 'done', result: { id: 'r1' } }))).toEqual({ kind: 'executed', data: { id: 'r1' } });
  expect(await polled(json({ state: 'done', id: 'r1' }), { receipt: null })).toEqual({
    kind: 'executed',
    data: { state: 'done', id: 'r1' },
  });
  expect(await polled(json({ state: 'failed', why: 'no funds' }))).toEqual({
    kind: 'failed',
    detail: '{"state":"failed","why":"no funds"}',
  });
});

test.each([
  ['that is under way', json({ state: 'queued' }), 'not done yet'],
  ['of another shape', json(['done']), 'not done yet'],
  ['that is done without a receipt', json({ state: 'done' }), 'done, but "receipt" selects nothing'],
  [
    'that is done with a wrong receipt',
    json({ state: 'done', result: { other: 1 } }),
    'done, but the receipt is wrong',
  ],
  ['that is no JSON', response(200, 'done'), 'the poll answered no JSON'],
  ['that is empty', response(200), 'the poll answered no JSON'],
  ['that is too large', json({ state: 'done', result: { id: 'x'.repeat(20_000) } }), 'the poll answered too much'],
  ['that is not UTF-8', Buffer.from('HTTP/1.1 200 X\r\ncontent-length: 4\r\n\r\n"\xff\xfe"', 'latin1'), 'no JSON'],
])('an answer %s is not the end', async (_, answer, why) => {
  expect(await polled(answer)).toEqual({ kind: 'pending', detail: expect.stringContaining(why) });
});

test.each([201, 202, 204, 206, 301, 303, 307, 400, 401, 403, 404, 410, 429, 500, 503])(
  'status %i of a poll is not the end, whatever its body says',
  async (status) => {
    const body = status === 204 ? '' : '{"state":"failed"}';
    const answer = response(status, body, { location: `${server.url}/elsewhere` });
    expect(await polled(answer)).toEqual({ kind: 'pending', detail: `the poll answered ${status}` });
  },
);

test.each([
  ['both', { executed: 'true', failed: 'true' }, 'the poll says both executed and failed'],
  ['a text for "executed"', { executed: '"yes"', failed: 'true' }, '"executed" is neither true nor false'],
  ['a number for "failed"', { failed: '1' }, '"failed" is neither true nor false'],
  ['null for "failed"', { failed: 'null' }, '"failed" is neither true nor false'],
  ['an error for "executed"', { executed: '$error("no")', failed: 'true' }, 'no'],
  ['an error for "failed"', { failed: '$error("no")' }, 'no'],
  ['an error for "receipt"', { receipt: '$error("no")' }, 'no'],
])('a rule that says %s is not the end', async (_, changes, why) => {
  expect(await polled(json({ state: 'done', result: { id: 'r1' } }), changes)).toEqual({
    kind: 'pending',
    detail: expect.stringContaining(why),
  });
});

test('no answer is not the end', async () => {
  server.script({ at: 'request', then: 'reset' });
  expect(await poll({}, { id: '1' })).toMatchObject({ kind: 'pending' });
  server.script({ at: 'request', then: 'hang' });
  const tool = toolAt(server.url, { upstream: { poll: rule }, limits: { callMs: 100 } });
  expect(await adapter.poll({ ...asking(tool), accepted: { id: '1' } })).toEqual({
    kind: 'pending',
    detail: 'no full answer within 100 ms',
  });
});

test('a poll that is given up is not the end', async () => {
  server.script({ at: 'request', then: 'hang' });
  const seen = server.seen(server.requests.length + 1);
  const controller = new AbortController();
  const tool = toolAt(server.url, { upstream: { poll: rule } });
  const pending = adapter.poll({ ...asking(tool), accepted: { id: '1' } }, { signal: controller.signal });
  await seen;
  controller.abort();
  expect(await pending).toMatchObject({ kind: 'pending' });
});

test('an address that nothing listens on, a sandbox that is not there and a tool without a poll are not the end', async () => {
  const gone = await MisbehavingServer.start();
  const { url } = gone;
  await gone.stop();
  expect(await poll({}, { id: '1' }, url)).toMatchObject({ kind: 'pending' });
  const tool = toolAt(server.url, { upstream: { poll: null } });
  expect(await adapter.poll({ ...asking(tool), accepted: null })).toMatchObject({
    kind: 'pending',
    detail: 'test.act has no poll',
  });
  const sandbox = asking(toolAt(server.url, { upstream: { poll: rule } }), { sandbox: true });
  expect(await adapter.poll({ ...sandbox, accepted: { id: '1' } })).toMatchObject({ kind: 'pending' });
});

test.each<[Json, string]>([
  [null, '{{accepted.id}} has no value'],
  [{}, '{{accepted.id}} has no value'],
  [{ id: null }, '{{accepted.id}} has no value'],
  [[{ id: 1 }], '{{accepted.id}} has no value'],
  ['id', '{{accepted.id}} has no value'],
  [{ id: { id: 1 } }, '{{accepted.id}} is not a plain value'],
  [{ id: [1] }, '{{accepted.id}} is not a plain value'],
  [{ id: '' }, '{{accepted.id}} is empty, which asks for everything'],
  [{ id: '..' }, 'the path contains a "." or ".." segment'],
  [{ id: '../admin' }, 'the path contains a "." or ".." segment'],
  [{ id: '\ud800' }, '{{accepted.id}} is not well-formed text'],
])('for an accepted answer of %j nothing is sent', async (answer, why) => {
  const before = server.requests.length;
  expect(await poll({}, answer)).toEqual({ kind: 'pending', detail: why });
  expect(server.requests.length).toBe(before);
});

describe('the Location of a 202', () => {
  test.each([
    ['a path', { location: '/operations/7?v=1#now' }, '/operations/7?v=1'],
    ['a path relative to the request', { location: 'operations/7' }, '/operations/7'],
    ['a path that climbs, resolved', { location: '/a/%2e%2e/operations/7' }, '/operations/7'],
    ['a path with blanks and accents, encoded', { location: '/operations/a b' }, '/operations/a%20b'],
  ])('may be %s', async (_, headers, location) => {
    expect(await accepted(headers)).toEqual({ $location: location });
  });

  test('is kept beside what the body says, and is not taken from it', async () => {
    expect(await accepted({ location: '/o/7' }, '{"location":"/mine","$location":"/fake","id":7}')).toEqual({
      ...{ location: '/mine', id: 7, $location: '/o/7' },
    });
    expect(await accepted({}, '{"$location":"/fake","id":7}')).toEqual({ id: 7 });
  });

  test('may name our server in full', async () => {
    expect(await accepted({ location: `${server.url}/o/7` })).toEqual({ $location: '/o/7' });
  });

  test.each([
    ['another server', 'http://other.example/o/7'],
    ['another server without a scheme', '//other.example/o/7'],
    ['another server in another way', '/\\other.example/o/7'],
    ['another port', 'http://127.0.0.1:1/o/7'],
    ['another scheme', 'https://127.0.0.1/o/7'],
    ['no URL', 'http://'],
    ['a script', 'javascript:alert(1)'],
  ])('is left out when it names %s', async (_, location) => {
    expect(await accepted({ location }, '{"id":7}')).toEqual({ id: 7 });
    expect(await accepted({ location })).toBeNull();
  });

  test('is left out where there are two', async () => {
    expect(await accepted({ location: '/o/7', Location: '/o/8' })).toBeNull();
  });

  test('has no room in an answer that is a list or a bare value', async () => {
    expect(await accepted({ location: '/o/7' }, '[1]')).toEqual([1]);
    expect(await accepted({ location: '/o/7' }, '"queued"')).toBe('queued');
  });

  test('is asked for as it is, and below the address of the tool or not', async () => {
    const baseUrl = `${server.url}/v2`;
    const answer = await accepted({ location: '/v2/operations/a%2Fb?x=1' }, '', baseUrl);
    server.script({ at: 'request', send: json({ state: 'done', result: { id: 'r1' } }), then: 'keep' });
    expect(await poll({ path: '/{{accepted.$location}}' }, answer, baseUrl)).toMatchObject({ kind: 'executed' });
    expect(server.requests.at(-1)?.path).toBe('/v2/operations/a%2Fb?x=1');
  });

  test('is a value like any other inside another path', async () => {
    await polled(json({}), { path: '/status?of={{accepted.$location}}' }, { $location: '/o/7' });
    expect(server.requests.at(-1)?.path).toBe('/status?of=%2Fo%2F7');
  });

  test.each<[Json, string]>([
    [null, 'the answer named no Location on this server'],
    [{ id: 1 }, 'the answer named no Location on this server'],
    [{ $location: 7 }, 'the answer named no Location on this server'],
    [{ $location: '//other.example/o' }, 'the path does not stay on the address of the tool'],
    [{ $location: 'http://other.example/o' }, 'the path does not stay on the address of the tool'],
    [{ $location: '/a/../b' }, 'the path contains a "." or ".." segment'],
  ])('of an accepted answer of %j is not asked for', async (answer, why) => {
    const before = server.requests.length;
    expect(await poll({ path: '/{{accepted.$location}}' }, answer)).toEqual({ kind: 'pending', detail: why });
    expect(server.requests.length).toBe(before);
  });
});
