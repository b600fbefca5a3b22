import { MisbehavingServer, response, toolAt } from '@intendant/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Upstreams } from './index.js';

/** Written out a second time on purpose: the table is a promise, and a slip in it must not pass. */
const expected: readonly (readonly [kind: string, transient: boolean | undefined, statuses: readonly number[]])[] = [
  ['executed', undefined, [200, 201]],
  ['accepted', undefined, [202]],
  ['unknown', undefined, [203, 206, 207, 301, 302, 303, 304, 408, 409, 412, 418, 499]],
  ['unknown', undefined, [500, 502, 503, 504, 507, 508, 520, 522, 524, 599]],
  ['not_executed', false, [307, 308, 400, 401, 402, 403, 404, 405, 406, 407, 410, 411, 413, 414, 415, 417]],
  ['not_executed', false, [421, 422, 423, 424, 425, 426, 428, 431, 451, 501, 505, 511, 525, 526]],
  ['not_executed', true, [429, 521, 523, 530]],
];

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

async function answered(answer: string, statuses = {}) {
  const attemptId = `a-${++attempts}`;
  server.script({ at: 'request', send: answer, then: 'keep' });
  const tool = toolAt(server.url, { upstream: { statuses } });
  const verdict = await adapter.call(
    { tool, args: {}, key: 'k', intentId: 'i', tenant: 't', runId: 'run_1', attemptId, sandbox: false },
    { mayStart: () => true },
  );
  expect(server.wireRequests(attemptId)).toBe(1);
  return verdict;
}

test.each(expected.flatMap(([kind, transient, statuses]) => statuses.map((status) => ({ status, kind, transient }))))(
  'status $status means $kind',
  async ({ status, kind, transient }) => {
    // 304 has no body whatever its length says.
    const verdict = await answered(response(status, status === 304 ? '' : '{"why":"so"}'));
    expect(verdict.kind).toBe(kind);
    if (kind === 'unknown' || kind === 'not_executed') expect(verdict).toMatchObject({ cause: `http_${status}` });
    if (verdict.kind === 'not_executed') {
      expect(verdict.transient).toBe(transient);
      // It was on the wire, whatever became of it.
      expect(verdict).not.toHaveProperty('sent');
    }
  },
);

test('status 204 means executed, without data', async () => {
  expect(await answered('HTTP/1.1 204 X\r\n\r\n')).toEqual({ kind: 'executed', data: null });
});

test('status 202 is accepted with its body, or with null when that cannot be read', async () => {
  expect(await answered(response(202, '{"poll":"/p/1"}'))).toEqual({ kind: 'accepted', data: { poll: '/p/1' } });
  expect(await answered(response(202, 'later'))).toEqual({ kind: 'accepted', data: null });
  expect(await answered(response(202))).toEqual({ kind: 'accepted', data: null });
});

test('redirects are not followed, neither with the body nor without', async () => {
  const before = server.requests.length;
  const location = { location: `${server.url}/elsewhere` };
  expect(await answered(response(302, '', location))).toMatchObject({ kind: 'unknown', cause: 'http_302' });
  expect(await answered(response(307, '', location))).toMatchObject({ kind: 'not_executed', cause: 'http_307' });
  expect(server.requests.slice(before).map((request) => request.path)).toEqual(['/act', '/act']);
});

test('429 carries the wait that the upstream asks for', async () => {
  expect(await answered(response(429, '', { 'retry-after': '7' }))).toMatchObject({
    transient: true,
    retryAfterMs: 7_000,
  });
  const dates = { date: 'Wed, 21 Oct 2026 07:28:00 GMT', 'retry-after': 'Wed, 21 Oct 2026 07:28:30 GMT' };
  expect(await answered(response(429, '', dates))).toMatchObject({ transient: true, retryAfterMs: 30_000 });
  expect(await answered(response(429))).toMatchObject({ transient: true, retryAfterMs: null });
});

test('the tool file can read a status in another way', async () => {
  const done = response(409, '{"id":"r1"}');
  expect(await answered(done, { 409: 'in_progress' })).toMatchObject({ kind: 'unknown', cause: 'in_progress' });
  expect(await answered(done, { 409: 'executed' })).toEqual({ kind: 'executed', data: { id: 'r1' } });
  expect(await answered(response(200, '{}'), { 200: 'accepted' })).toMatchObject({ kind: 'accepted' });
  expect(await answered(response(422, '{}'), { 422: 'unknown' })).toMatchObject({ kind: 'unknown', cause: 'http_422' });
  const busy = response(503, '', { 'retry-after': '1' });
  expect(await answered(busy, { 503: 'not_executed' })).toMatchObject({
    kind: 'not_executed',
    transient: true,
    retryAfterMs: 1_000,
  });
});

test("a refusal keeps a short, printable piece of the upstream's words", async () => {
  const verdict = await answered(response(400, `a\u0000b\u001b[31m\r\n${'\u{1f600}'.repeat(400)}`));
  expect(verdict).toMatchObject({ kind: 'not_executed', detail: expect.stringMatching(/^a b \[31m /) });
  const { detail } = verdict as { detail: string };
  expect(detail.length).toBeLessThanOrEqual(500);
  expect(detail.length).toBeGreaterThan(490);
  expect(detail).not.toMatch(/\p{Cs}|\p{Cc}/u);
});
