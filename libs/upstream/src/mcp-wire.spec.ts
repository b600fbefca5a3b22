import type { McpUpstream, ToolDefinition } from '@intendant/contracts';
import type { Json } from '@intendant/intent';
import { type Behaviour, MisbehavingServer, response, toolAt } from '@intendant/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { CallOptions } from './index.js';
import { Upstreams } from './index.js';

let server: MisbehavingServer;
let adapter: Upstreams;

beforeEach(async () => {
  server = await MisbehavingServer.start();
  adapter = new Upstreams((_, data) => (typeof data === 'object' && data !== null && 'id' in data ? null : 'no id'));
});
afterEach(async () => {
  await adapter.close();
  await server.stop();
});

const json = { 'content-type': 'application/json' };
const events = { 'content-type': 'text/event-stream' };
const session = { ...json, 'mcp-session-id': 'session-1' };
const message = (body: object) => JSON.stringify({ jsonrpc: '2.0', ...body });
/** The client numbers its requests from 0, which is the handshake. */
const called = 1;
const result = (data: Json, id: number | string = called) =>
  message({ id, result: { content: [], structuredContent: data } });
const rpcError = (code: number, id: number | null = called) => message({ id, error: { code, message: 'no' } });
const event = (data: string, id?: string) => `${id === undefined ? '' : `id: ${id}\n`}data: ${data}\n\n`;
const answer = (status: number, body = '', headers: Record<string, string> = json): Behaviour => ({
  at: 'request',
  send: response(status, body, headers),
  then: 'keep',
});
/** An answer that ends with its connection. */
const untilClose = (headers: Record<string, string>, body: string, then: Behaviour['then']): Behaviour => ({
  at: 'request',
  send: `HTTP/1.1 200 X\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}connection: close\r\n\r\n${body}`,
  then,
});
/** It offers no list of tools, which would be asked for. */
const welcome = message({
  id: 0,
  result: { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 's', version: '1' } },
});
const handshake = [answer(200, welcome, session), answer(202)];

function toolHere(changes: Partial<McpUpstream> = {}, limits: Partial<ToolDefinition['limits']> = {}): ToolDefinition {
  return {
    ...toolAt('http://nowhere', { limits }),
    upstream: {
      kind: 'mcp',
      name: 'misbehaving',
      concurrency: 8,
      outcomes: [],
      credential: null,
      server: { transport: 'http', url: `${server.url}/mcp`, headers: {} },
      tool: 'act',
      arguments: '$args',
      lookup: null,
      poll: null,
      ...changes,
    },
  };
}

const call = (tool = toolHere(), attemptId = 'a-1', options: Partial<CallOptions> = {}) =>
  adapter.call(
    { tool, args: { n: 1 }, key: 'k', intentId: 'i', tenant: 't', runId: 'run_1', attemptId, sandbox: false },
    { mayStart: () => true, ...options },
  );

const toolCalls = () =>
  server.requests.filter(({ method, body }) => method === 'POST' && body.text.includes('tools/call'));

/** Nothing comes any more once the adapter is closed: what was to be sent has been seen. */
async function expectOneCall(attemptId = 'a-1') {
  await adapter.close();
  expect(toolCalls()).toHaveLength(1);
  expect(server.wireRequests(attemptId)).toBe(1);
}

test('a call carries key and attempt id as headers and in its _meta, and names the session', async () => {
  server.script(...handshake, answer(200, result({ id: 'r-1' })));
  expect(await call()).toEqual({ kind: 'executed', data: { id: 'r-1' } });
  const [only] = toolCalls();
  expect(only?.headers).toMatchObject({
    'idempotency-key': 'k',
    'x-attempt-id': 'a-1',
    'mcp-session-id': 'session-1',
    'mcp-protocol-version': '2025-11-25',
  });
  expect(only?.headers).not.toHaveProperty('intendant-exchange');
  expect(JSON.parse(only?.body.text ?? '')).toMatchObject({
    method: 'tools/call',
    params: { name: 'act', arguments: { n: 1 }, _meta: { 'intendant/key': 'k', 'intendant/attemptId': 'a-1' } },
  });
  await expectOneCall();
  expect(server.requests.map(({ method }) => method)).toEqual(['POST', 'POST', 'POST', 'DELETE']);
});

describe('a status is read as for any other POST, and is followed by nothing', () => {
  const sameOrigin = { location: '/elsewhere' };
  const unauthorized = { 'www-authenticate': 'Bearer resource_metadata="/.well-known/x"' };
  const scope = { 'www-authenticate': 'Bearer error="insufficient_scope", scope="more"' };
  const executed: [number, object, Record<string, string>?][] = [
    [201, { kind: 'unknown' }],
    [202, { kind: 'unknown' }],
    [204, { kind: 'unknown' }],
    [206, { kind: 'unknown' }],
    [301, { kind: 'unknown' }, sameOrigin],
    [302, { kind: 'unknown' }, sameOrigin],
    [303, { kind: 'unknown' }, sameOrigin],
    [307, { kind: 'not_executed', transient: false }, sameOrigin],
    [308, { kind: 'not_executed', transient: false }, sameOrigin],
    [400, { kind: 'not_executed', transient: false }],
    [401, { kind: 'not_executed', transient: false }, unauthorized],
    [403, { kind: 'not_executed', transient: false }, scope],
    [405, { kind: 'not_executed', transient: false }],
    [406, { kind: 'not_executed', transient: false }],
    [408, { kind: 'unknown' }],
    [409, { kind: 'unknown' }],
    [413, { kind: 'not_executed', transient: false }],
    [415, { kind: 'not_executed', transient: false }],
    [418, { kind: 'unknown' }],
    [421, { kind: 'not_executed', transient: false }],
    [422, { kind: 'not_executed', transient: false }],
    [425, { kind: 'not_executed', transient: false }],
    [429, { kind: 'not_executed', transient: true, retryAfterMs: 7_000 }, { 'retry-after': '7' }],
    [500, { kind: 'unknown' }],
    [502, { kind: 'unknown' }],
    [503, { kind: 'unknown' }, { 'retry-after': '0' }],
    [504, { kind: 'unknown' }],
  ];
  test.each(executed)('%i', async (status, verdict, headers = {}) => {
    server.script(...handshake, answer(status, '', { ...json, ...headers }));
    expect(await call()).toMatchObject({ ...verdict, cause: `http_${status}` });
    await expectOneCall();
    expect(server.requests.every(({ path }) => path === '/mcp')).toBe(true);
  });

  test('a session that the server has forgotten was no execution, and the next call makes a new one', async () => {
    server.script(...handshake, answer(404, rpcError(-32001, null)), ...handshake, answer(200, result({ id: 'r-1' })));
    expect(await call()).toMatchObject({ kind: 'not_executed', cause: 'http_404', transient: true });
    expect(await call(toolHere(), 'a-2')).toEqual({ kind: 'executed', data: { id: 'r-1' } });
    await adapter.close();
    expect([server.wireRequests('a-1'), server.wireRequests('a-2')]).toEqual([1, 1]);
  });

  test('so is one that it refuses with a 400, as official servers do; another 400 is for good', async () => {
    server.script(...handshake, answer(400, rpcError(-32000, null)), ...handshake, answer(400, rpcError(-32600)));
    expect(await call()).toMatchObject({ kind: 'not_executed', cause: 'http_400', transient: true });
    expect(await call(toolHere(), 'a-2')).toMatchObject({ kind: 'not_executed', cause: 'http_400', transient: false });
  });

  test('a refusal that is an internal error in the body is unknown', async () => {
    server.script(...handshake, answer(400, rpcError(-32603)));
    expect(await call()).toMatchObject({ kind: 'unknown', cause: 'http_400' });
    await expectOneCall();
  });

  test('a 202 is accepted where it can be followed', async () => {
    server.script(...handshake, answer(202, '{"operation":"o"}'));
    const poll = { tool: 'follow', arguments: '$args', executed: 'false', failed: 'false', receipt: null };
    expect(await call(toolHere({ poll }))).toEqual({ kind: 'accepted', data: { operation: 'o' } });
    await expectOneCall();
  });
});

describe('an error of JSON-RPC', () => {
  test.each([-32700, -32600, -32601])('%i says that nothing was executed', async (code) => {
    server.script(...handshake, answer(200, rpcError(code)));
    expect(await call()).toMatchObject({ kind: 'not_executed', cause: `rpc_${code}`, transient: false, detail: 'no' });
    await expectOneCall();
  });

  // -32020 is a header mismatch (revision 2026-07-28), after which the client's own `callTool` sends again.
  test.each([-32603, -32000, -32001, -32002, -32020, -32042, 1])('%i says nothing', async (code) => {
    server.script(...handshake, answer(200, rpcError(code)));
    expect(await call()).toMatchObject({ kind: 'unknown', cause: `rpc_${code}` });
    await expectOneCall();
  });

  test.each([200, 400])(
    '-32602 with status %i may come after the effect, and says nothing but to a read',
    async (status) => {
      const refusal = (n: number) => answer(status, rpcError(-32602, n));
      // After a 400 there is a new session.
      const again = status === 400 ? handshake : [];
      server.script(...handshake, refusal(1), ...again, refusal(2), ...again, refusal(3));
      const cause = status === 200 ? 'rpc_-32602' : 'http_400';
      expect(await call()).toMatchObject({ kind: 'unknown', cause });
      const read = { ...toolHere(), effect: 'read' } as const;
      expect(await call(read, 'a-2')).toMatchObject({ kind: 'not_executed', cause, transient: false });
      const outcomes = [
        { when: '$code = -32602 and $contains($text, "no")', means: 'not_executed', receipt: null } as const,
      ];
      expect(await call(toolHere({ outcomes }), 'a-3')).toMatchObject({ kind: 'not_executed', cause });
    },
  );

  test('can be read by the tool file', async () => {
    server.script(...handshake, answer(200, rpcError(-32099)));
    const outcomes = [{ when: '$code = -32099 and $isError', means: 'not_executed', receipt: null } as const];
    expect(await call(toolHere({ outcomes }))).toMatchObject({ kind: 'not_executed' });
  });
});

describe('an answer that breaks off is unknown', () => {
  const cut = (send: string, then: Behaviour['then']): Behaviour => ({ at: 'request', send, then });
  const started = response(200, result({ id: 'r-1' }), json).slice(0, -10);
  const chunked =
    'HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n9\r\n: hello\n\n';
  const cases: [string, Behaviour, string][] = [
    ['reset after the headers', { at: 'headers', then: 'reset' }, 'reset_after_send'],
    ['reset after the request', { at: 'request', then: 'reset' }, 'reset_after_send'],
    ['closed after the request', { at: 'request', then: 'close' }, 'reset_after_send'],
    ['reset in the status line', cut('HTTP/1.1 20', 'reset'), 'reset_after_send'],
    [
      'reset after the answer’s headers',
      cut('HTTP/1.1 200 X\r\ncontent-length: 9\r\n\r\n', 'reset'),
      'answer_cut_short',
    ],
    ['reset within the body', cut(started, 'reset'), 'answer_cut_short'],
    ['closed within the body', cut(started, 'close'), 'answer_cut_short'],
    ['a body that ends with its connection, too early', untilClose(json, '{"jsonrpc":', 'close'), 'bad_response'],
    ['garbage for HTTP', cut('SSH-2.0-OpenSSH\r\n', 'keep'), 'bad_response'],
    ['1xx, then reset', cut('HTTP/1.1 103 X\r\n\r\n', 'reset'), 'reset_after_send'],
    ['no JSON', answer(200, '<html>', json), 'bad_response'],
    ['no JSON-RPC', answer(200, '{"id":1}', json), 'bad_response'],
    ['nothing', answer(200, '', json), 'bad_response'],
    ['something for people', answer(200, result({ id: 'r-1' }), { 'content-type': 'text/html' }), 'http_200'],
    ['an answer to another request', answer(200, result({ id: 'r-1' }, 99)), 'no_answer'],
    ['an empty stream', untilClose(events, '', 'close'), 'no_answer'],
    ['a stream of another answer', untilClose(events, event(result({ id: 'r-1' }, 99)), 'close'), 'no_answer'],
    ['a stream that is reset', cut(chunked, 'reset'), 'answer_cut_short'],
    // undici takes the reset for the end that was announced.
    ['a stream that ends with its connection and is reset', untilClose(events, ': hello\n\n', 'reset'), 'no_answer'],
    ['a stream of garbage', untilClose(events, event('<html>'), 'close'), 'no_answer'],
    ['a result that is none', answer(200, message({ id: called, result: 5 })), 'bad_response'],
    ['a result without content', answer(200, message({ id: called, result: {} })), 'bad_response'],
  ];
  test.each(cases)('%s', async (_, behaviour, cause) => {
    server.script(...handshake, behaviour);
    expect(await call()).toMatchObject({ kind: 'unknown', cause });
    await expectOneCall();
  });

  test('and one that never comes, at the call limit; the server is told', async () => {
    server.script(...handshake, { at: 'request', then: 'hang' });
    expect(await call(toolHere({}, { callMs: 300 }))).toMatchObject({ kind: 'unknown', cause: 'call_timeout' });
    await server.seen(4);
    await adapter.close();
    expect(JSON.parse(server.requests[3]?.body.text ?? '')).toMatchObject({
      method: 'notifications/cancelled',
      params: { requestId: called },
    });
    expect(toolCalls()).toHaveLength(1);
  });
});

describe('a stream of events', () => {
  test('may say other things before the answer', async () => {
    const notice = message({ method: 'notifications/message', params: { level: 'info', data: 'x' } });
    server.script(...handshake, untilClose(events, event(notice) + event(result({ id: 'r-1' })), 'close'));
    expect(await call()).toEqual({ kind: 'executed', data: { id: 'r-1' } });
    await expectOneCall();
  });

  test('may stay open after the answer: nobody waits for its end', async () => {
    server.script(...handshake, untilClose(events, event(result({ id: 'r-1' })), 'hang'));
    expect(await call()).toEqual({ kind: 'executed', data: { id: 'r-1' } });
    await expectOneCall();
  });

  test('may break off and be fetched with a GET: the call itself is not sent again', async () => {
    server.script(
      ...handshake,
      untilClose(events, `retry: 10\n${event('', 'e-1')}`, 'close'),
      untilClose(events, event(result({ id: 'r-1' }), 'e-2'), 'close'),
    );
    expect(await call()).toEqual({ kind: 'executed', data: { id: 'r-1' } });
    expect(server.requests.map(({ method }) => method)).toEqual(['POST', 'POST', 'POST', 'GET']);
    expect(server.requests[3]?.headers).toMatchObject({ 'last-event-id': 'e-1', 'mcp-session-id': 'session-1' });
    await expectOneCall();
  });

  test.each([404, 405, 500])('that breaks off and cannot be fetched, because of a %i, is unknown', async (status) => {
    const gone = answer(status);
    server.script(...handshake, untilClose(events, `retry: 10\n${event('', 'e-1')}`, 'reset'), gone, gone, gone, gone);
    expect(await call()).toMatchObject({ kind: 'unknown' });
    await expectOneCall();
  });

  test('a server that asks back on it is told that nobody answers such questions', async () => {
    const question = message({ id: 'q-1', method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } });
    server.script(...handshake, untilClose(events, event(question) + event(result({ id: 'r-1' })), 'close'));
    expect(await call()).toEqual({ kind: 'executed', data: { id: 'r-1' } });
    await server.seen(4);
    await expectOneCall();
    expect(server.requests[3]?.body.text).toContain('"code":-32601');
  });
});

describe('without a session nothing is sent', () => {
  const hang: Behaviour = { at: 'request', then: 'hang' };
  const cases: [string, Behaviour[], object][] = [
    ['the server wants other credentials', [answer(401)], { cause: 'http_401', transient: false }],
    ['the server is overloaded', [answer(503)], { cause: 'http_503', transient: true }],
    ['it resets the handshake', [{ at: 'request', then: 'reset' }], { transient: true }],
    ['it resets the connection', [{ at: 'accept', then: 'reset' }], { cause: 'reset_before_send', transient: true }],
    ['it redirects', [answer(307, '', { location: '/mcp' })], { cause: 'http_307', transient: false }],
    ['it does not answer', [hang], { cause: 'connect_timeout', transient: true }],
    ['it stops half-way', [answer(200, welcome, session), hang], { cause: 'connect_timeout', transient: true }],
    ['it refuses', [answer(200, rpcError(-32602, 0)), answer(400)], { transient: false }],
    ['it answers garbage', [answer(200, '<html>')], { cause: 'mcp_connect_failed' }],
  ];
  test.each(cases)('%s', async (_, script, expected) => {
    server.script(...script);
    const onSend = () => expect.unreachable();
    const verdict = await call(toolHere({}, { connectMs: 500 }), 'a-1', { onSend });
    expect(verdict).toMatchObject({ kind: 'not_executed', sent: false, ...expected });
    await adapter.close();
    expect(toolCalls()).toEqual([]);
  });

  test('a lease that ends while the session is made forbids the call', async () => {
    server.script(...handshake);
    expect(await call(toolHere(), 'a-1', { mayStart: () => false })).toMatchObject({
      kind: 'not_executed',
      cause: 'lease_over',
      sent: false,
    });
    await adapter.close();
    expect(toolCalls()).toEqual([]);
  });

  test('a server that is back after a failure is spoken to again', async () => {
    server.script(answer(503), ...handshake, answer(200, result({ id: 'r-1' })));
    expect(await call()).toMatchObject({ kind: 'not_executed', sent: false });
    expect(await call(toolHere(), 'a-2')).toMatchObject({ kind: 'executed' });
  });

  test('a connection refused for the call itself, after the handshake, was not sent', async () => {
    server.script(
      { at: 'request', send: response(200, welcome, { ...session, connection: 'close' }), then: 'close' },
      { at: 'request', send: response(202, '', { connection: 'close' }), then: 'close' },
      { at: 'accept', then: 'reset' },
    );
    expect(await call()).toMatchObject({ kind: 'not_executed', sent: false, transient: true });
    expect(toolCalls()).toEqual([]);
  });
});

test('in revision 2026-07-28 a header mismatch, after which the client itself would try again, ends the call', async () => {
  const discovered = {
    resultType: 'complete',
    supportedVersions: ['2026-07-28'],
    capabilities: {},
    ttlMs: 0,
    cacheScope: 'private',
  };
  const found = answer(200, message({ id: 'server-discover-probe-1', result: discovered }));
  server.script(answer(400), found, answer(400, rpcError(-32020, 0)));
  expect(await call()).toMatchObject({ kind: 'not_executed', cause: 'http_400', transient: false });
  await expectOneCall();
  expect(toolCalls()[0]?.headers).toMatchObject({ 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call' });
});

test('the session is made once for many calls, and each call is sent once', async () => {
  server.script(...handshake, ...[1, 2, 3].map((n) => answer(200, result({ id: `r-${n}` }, n))));
  for (const n of [1, 2, 3]) {
    expect(await call(toolHere(), `a-${n}`)).toEqual({ kind: 'executed', data: { id: `r-${n}` } });
  }
  await adapter.close();
  expect(toolCalls()).toHaveLength(3);
  expect(server.requests).toHaveLength(6);
});

test('a connection that is reset in the very moment of a call never makes two of it', async () => {
  server.script(...handshake, answer(200, result({ id: 'r-0' })));
  await call(toolHere(), 'a-0');
  for (let n = 1; n <= 50; n++) {
    server.resetConnections();
    const verdict = await call(toolHere(), `a-${n}`);
    expect(server.wireRequests(`a-${n}`)).toBeLessThanOrEqual(verdict.kind === 'not_executed' ? 0 : 1);
  }
  await adapter.close();
  const ids = toolCalls().map(({ headers }) => headers['x-attempt-id']);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.length).toBeGreaterThan(1);
});

test('the shapes of a result', async () => {
  const shapes: [object, object][] = [
    [{ content: [{ type: 'text', text: '{"id":"in a text"}' }] }, { kind: 'executed', data: { id: 'in a text' } }],
    [
      { content: [{ type: 'text', text: '{"id":1}' }], structuredContent: { id: 2 } },
      { kind: 'executed', data: { id: 2 } },
    ],
    [{ content: [{ type: 'text', text: 'done' }] }, { kind: 'unknown', cause: 'no_receipt' }],
    [
      { content: [], isError: true },
      { kind: 'unknown', cause: 'mcp_error' },
    ],
    [
      { content: [{ type: 'text', text: 'no funds' }], isError: true },
      { kind: 'unknown', cause: 'mcp_error', detail: 'no funds' },
    ],
    [{ task: { taskId: 't-1', status: 'working' } }, { kind: 'unknown', cause: 'mcp_task' }],
    [
      { resultType: 'input_required', requestState: 's' },
      { kind: 'unknown', cause: 'mcp_input_required' },
    ],
  ];
  server.script(...handshake, ...shapes.map(([shape], n) => answer(200, message({ id: n + 1, result: shape }))));
  for (const [n, [shape, verdict]] of shapes.entries()) {
    expect(await call(toolHere(), `a-${n}`), JSON.stringify(shape)).toMatchObject(verdict);
  }
});

test('a read that failed did nothing, and one that goes on is accepted where it can be followed', async () => {
  const failed = message({ id: 1, result: { content: [], isError: true } });
  const task = { task: { taskId: 't-1', status: 'working' } };
  server.script(...handshake, answer(200, failed), answer(200, message({ id: 2, result: task })));
  expect(await call({ ...toolHere(), effect: 'read' })).toMatchObject({
    kind: 'not_executed',
    cause: 'mcp_error',
    transient: false,
  });
  const poll = { tool: 'follow', arguments: '$args', executed: 'false', failed: 'false', receipt: null };
  expect(await call(toolHere({ poll }), 'a-2')).toEqual({ kind: 'accepted', data: task });
});

test('a rule of the tool file makes proof of an error that says "already done", or a refusal', async () => {
  const error = (text: string, id: number) =>
    answer(200, message({ id, result: { content: [{ type: 'text', text }], isError: true } }));
  server.script(...handshake, error('{"duplicate":"r-1"}', 1), error('insufficient funds', 2));
  const outcomes = [
    { when: '$exists(duplicate)', means: 'executed', receipt: '{ "id": duplicate }' },
    { when: '$isError and $contains($text, "insufficient funds")', means: 'not_executed', receipt: null },
  ] as const;
  expect(await call(toolHere({ outcomes }))).toEqual({ kind: 'executed', data: { id: 'r-1' } });
  expect(await call(toolHere({ outcomes }), 'a-2')).toMatchObject({ kind: 'not_executed', cause: 'mcp_error' });
});

test('arguments that cannot be made send nothing, and a secret header goes out with everything', async () => {
  server.script(...handshake, answer(200, result({ id: 'r-1' })));
  expect(await call(toolHere({ arguments: 'args.nothing' }))).toMatchObject({
    kind: 'not_executed',
    cause: 'request_mapping',
    sent: false,
  });
  expect(server.requests).toEqual([]);
  const headers = { 'x-api-key': 'abc', 'idempotency-key': 'not this' };
  await call(toolHere({ server: { transport: 'http', url: `${server.url}/mcp`, headers } }));
  expect(server.requests.map((request) => request.headers['x-api-key'])).toEqual(['abc', 'abc', 'abc']);
  expect(toolCalls()[0]?.headers['idempotency-key']).toBe('k');
});
