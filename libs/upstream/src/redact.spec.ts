import { MisbehavingServer, response, type ToolChanges, toolAt } from '@intendant/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Upstreams, type ValidateOutput } from './index.js';

const secret = 'sk_live/4f"9c+2=';
const headers = { Authorization: `Bearer ${secret}`, 'X-Account': 'acct {{args.account}}', 'X-Mode': 'fast' };
const lookupHeaders = { 'X-Search-Key': 'search-9d1e77' };

const quotesAnswer: ValidateOutput = (_, data) => `got ${JSON.stringify(data)}`;

let server: MisbehavingServer;
let adapter: Upstreams;
let attempts = 0;

beforeAll(async () => {
  server = await MisbehavingServer.start();
  adapter = new Upstreams(quotesAnswer);
});
afterAll(async () => {
  await adapter.close();
  await server.stop();
});

const request = (changes: ToolChanges = {}) => {
  const upstream = { headers, ...changes.upstream };
  const tool = toolAt(server.url, {
    ...changes,
    upstream,
    lookup: { headers: lookupHeaders, absentStatuses: [], ...changes.lookup },
  });
  return {
    tool,
    args: { account: 'a-771' },
    key: 'key-1',
    intentId: 'int-1',
    tenant: 't',
    runId: 'run_1',
    sandbox: false,
  };
};

function called(status: number, body: string, changes: ToolChanges = {}) {
  server.script({ at: 'request', send: response(status, body), then: 'keep' });
  return adapter.call({ ...request(changes), attemptId: `a-${++attempts}` }, { mayStart: () => true });
}

function lookedUp(body: string, changes: ToolChanges = {}) {
  server.script({ at: 'request', send: response(200, body), then: 'keep' });
  return adapter.lookup(request(changes));
}

test.each([400, 429, 500, 502, 409])(
  'an answer of %i that repeats our headers gives none of their values away',
  async (status) => {
    const verdict = await called(status, `bad: authorization=Bearer ${secret} x-account=acct a-771 x-mode=fast`);
    expect(verdict).toMatchObject({ detail: 'bad: authorization=[redacted] x-account=[redacted] x-mode=fast' });
  },
);

test('a credential is found without its scheme, too', async () => {
  expect(await called(401, `no such key: ${secret}.`)).toMatchObject({ detail: 'no such key: [redacted].' });
});

test('a value is found as JSON writes it, with slashes escaped or not', async () => {
  const json = JSON.stringify({ got: secret });
  expect(await called(401, json)).toMatchObject({ detail: '{"got":"[redacted]"}' });
  expect(await called(401, json.replaceAll('/', '\\/'))).toMatchObject({ detail: '{"got":"[redacted]"}' });
});

test("a call's detail hides the headers of the lookup, even when one of them cannot be filled in", async () => {
  const lookup = { headers: { 'X-Missing': '{{args.missing}}', ...lookupHeaders } };
  expect(await called(403, 'not search-9d1e77', { lookup })).toMatchObject({ detail: 'not [redacted]' });
});

test('a value that lies across the end of what is kept leaves no part of itself', async () => {
  const long = 'k'.repeat(900);
  const changes = { upstream: { headers: { 'X-Api-Key': long } } };
  for (const before of [0, 495, 1_600, 1_995, 3_900]) {
    const verdict = await called(500, `${'.'.repeat(before)}${long.repeat(5)}`, changes);
    expect(verdict).toMatchObject({ kind: 'unknown', detail: expect.not.stringContaining('kk') });
  }
});

test('a receipt that breaks its schema and repeats our headers gives none of their values away', async () => {
  expect(await called(200, JSON.stringify({ got: secret }))).toMatchObject({
    cause: 'no_receipt',
    detail: 'http_200: got {"got":"[redacted]"}',
  });
});

test('a lookup that cannot tell gives away no value of a header', async () => {
  const body = JSON.stringify([{ got: secret, key: 'search-9d1e77' }]);
  expect(await lookedUp(body)).toEqual({
    kind: 'cannot_tell',
    detail: 'present, but the receipt is wrong: got {"got":"[redacted]","key":"[redacted]"}',
  });
  const failing = { lookup: { present: '$error(data[0].key & " failed")' } };
  expect(await lookedUp(body, failing)).toMatchObject({ detail: '[redacted] failed' });
});

test('the answer itself is handed on as it is', async () => {
  const trusting = new Upstreams(() => null);
  server.script({ at: 'request', send: response(200, JSON.stringify({ got: secret })), then: 'keep' });
  const verdict = await trusting.call({ ...request(), attemptId: 'a-data' }, { mayStart: () => true });
  expect(verdict).toEqual({ kind: 'executed', data: { got: secret } });
  await trusting.close();
});
