import { MisbehavingServer, response, type ToolChanges, toolAt } from '@intendant/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseCredentials, Upstreams, type ValidateOutput } from './index.js';

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

/** What remains of an answer that a tool with these headers gets. */
async function taken(data: unknown, upstream: ToolChanges['upstream'] = {}, credentials = '{}') {
  const rules = parseCredentials(credentials, {});
  const trusting = new Upstreams(() => null, { credentials: () => rules });
  server.script({ at: 'request', send: response(200, JSON.stringify(data)), then: 'keep' });
  const attempt = { ...request({ upstream }), attemptId: `a-${++attempts}` };
  const verdict = await trusting.call(attempt, { mayStart: () => true });
  await trusting.close();
  if (verdict.kind !== 'executed') throw new Error(JSON.stringify(verdict));
  return verdict.data;
}

test('data that repeats a secret loses it, wherever it is', async () => {
  const data = {
    got: secret,
    deep: [{ text: `with Bearer ${secret}!`, [`as ${secret}`]: 1 }],
    other: true,
    none: null,
  };
  expect(await taken(data)).toEqual({
    got: '[redacted]',
    deep: [{ text: 'with [redacted]!', 'as [redacted]': 1 }],
    other: true,
    none: null,
  });
  expect(await taken({ got: 12345678, other: 1234 }, { headers: { 'X-Pass-Key': '12345678' } })).toEqual({
    got: '[redacted]',
    other: 1234,
  });
});

test('what is accepted and what a lookup or a poll finds loses it, too', async () => {
  const body = JSON.stringify([{ got: secret }]);
  server.script({ at: 'request', send: response(202, body), then: 'keep' });
  const trusting = new Upstreams(() => null);
  const attempt = { ...request(), attemptId: `a-${++attempts}` };
  const data = [{ got: '[redacted]' }];
  expect(await trusting.call(attempt, { mayStart: () => true })).toMatchObject({ kind: 'accepted', data });
  server.script({ at: 'request', send: response(200, body), then: 'keep' });
  expect(await trusting.lookup(request())).toMatchObject({ kind: 'present', data: data[0] });
  const poll = { method: 'GET', path: '/poll', headers: {}, executed: 'true', failed: 'false', receipt: null } as const;
  server.script({ at: 'request', send: response(200, body), then: 'keep' });
  expect(await trusting.poll({ ...request({ upstream: { poll } }), accepted: null })).toMatchObject({ data });
  await trusting.close();
});

test('data keeps what is no secret, though a header carried it', async () => {
  const headers = {
    Accept: 'application/json',
    'X-Account': 'acct-{{args.account}}',
    'X-Request-Key': 'request-{{key}}',
    'X-Version': '2025-11-25',
  };
  const data = { type: 'application/json', account: 'acct-a-771', request: 'request-key-1', on: '2025-11-25' };
  expect(await taken(data, { headers })).toEqual(data);
});

test.each([
  { as: 'percent-encoded', text: encodeURIComponent(secret) },
  {
    as: 'percent-encoded in lower case',
    text: encodeURIComponent(secret).replace(/%../g, (code) => code.toLowerCase()),
  },
  {
    as: 'with every sign escaped for JSON',
    text: secret.replace(/[^a-z0-9]/gi, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`),
  },
  { as: 'escaped for HTML', text: secret.replace('"', '&quot;') },
  { as: 'escaped for HTML by number', text: secret.replace('"', '&#34;').replace('+', '&#x2B;') },
  { as: 'escaped for JSON and then for HTML', text: JSON.stringify(secret).slice(1, -1).replace('"', '&quot;') },
  { as: 'escaped for JSON twice', text: JSON.stringify(JSON.stringify(secret)).slice(3, -3) },
  { as: 'percent-encoded twice', text: encodeURIComponent(encodeURIComponent(secret)) },
  { as: 'in base64', text: btoa(secret) },
  { as: 'in the base64 of URLs', text: Buffer.from(secret).toString('base64url') },
])('a secret is found $as', async ({ text }) => {
  expect(await called(400, `no such key: ${text} here`)).toMatchObject({ detail: 'no such key: [redacted] here' });
});

test('a basic authorization is found in its parts', async () => {
  const basic = 'legacy: { basic: { user: robot, password: pass-wor/d } }';
  const data = [
    'robot',
    'pass-wor/d',
    'robot:pass-wor/d',
    btoa('robot:pass-wor/d'),
    `Basic ${btoa('robot:pass-wor/d')}`,
  ];
  const found = ['robot', ...Array.from({ length: 4 }, () => '[redacted]')];
  expect(await taken(data, { headers: {}, credential: 'legacy' }, basic)).toEqual(found);
  expect(await taken(data, { headers: { Authorization: data[4] ?? '' } })).toEqual(found);
});

test('data without a secret is handed on as it is', async () => {
  const data = { got: 'sk_live', n: 1.5, list: [], deep: { a: null } };
  expect(await taken(data)).toEqual(data);
});
