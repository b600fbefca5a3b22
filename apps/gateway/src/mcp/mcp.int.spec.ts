import type { RpcRequest } from '@intendant/bus';
import { subjects } from '@intendant/contracts';
import { Store } from '@intendant/store';
import { createDatabase, type NatsServer, startNats, type TestDatabase } from '@intendant/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answerOn, environment, keys, startGateway, type TestGateway, tokenFor } from '../gateway.spec-helper.js';

const runId = 'run_01JD8Q3M1A9S8D7F6G5H4J3K2Z';
const accept = 'application/json, text/event-stream';
const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
const call = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'orders.get', arguments: { id: 1 } } };
/** What a message of 2026-07-28 says of its sender. */
const envelope = (revision: string) => ({
  'io.modelcontextprotocol/protocolVersion': revision,
  'io.modelcontextprotocol/clientInfo': { name: 'spec', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
});
const result = {
  ...{ intentId: '01JD8Q4Y6V2N7XK3T5W9ZB1CEF', runId, stepId: null, tool: 'orders.get', status: 'committed' },
  ...{ outcome: 'executed', replayed: false, data: { n: 1 }, summary: null, handle: null, error: null },
};

describe('the MCP endpoint', () => {
  let nats: NatsServer;
  let database: TestDatabase;
  let gateway: TestGateway;
  let token: string;
  const submits: RpcRequest[] = [];
  const stops: (() => Promise<void>)[] = [];
  const names = Array.from({ length: 120 }, (_, i) => `many.tool_${String(i).padStart(3, '0')}`);

  /** Without the client: it would not send what is sent here. */
  async function post(body: unknown, options: { credential?: string | null; headers?: Record<string, string> } = {}) {
    const credential = options.credential === undefined ? token : options.credential;
    const raw = typeof body === 'string' || body instanceof Uint8Array;
    const response = await fetch(`${gateway.url}/mcp`, {
      method: 'POST',
      headers: {
        ...{ accept, 'content-type': 'application/json' },
        ...(credential !== null && { authorization: `Bearer ${credential}` }),
        ...options.headers,
      },
      body: raw ? (body as string) : JSON.stringify(body),
    });
    const text = await response.text();
    const json = text.startsWith('{') ? text : (/^data: (\{.*)$/m.exec(text)?.[1] ?? 'null');
    return { status: response.status, headers: response.headers, body: JSON.parse(json), text };
  }

  beforeAll(async () => {
    [nats, database, token] = await Promise.all([startNats(), createDatabase(), tokenFor(runId)]);
    gateway = await startGateway(environment(database.url, nats.url));
    const store = await Store.open({ url: database.url, name: 'mcp-spec' });
    const run = { id: runId, tenant: 'acme', user: 'ada', permissions: [], phase: null, profile: 'batch' } as const;
    const budgets = { calls: null, mutating: null, destructive: null, costMicros: null, wallClockMs: null };
    await store.runs.open({ ...run, openedBy: 'spec', budgets }, 60_000);
    await store.close();
    stops.push(
      await answerOn(nats.url, subjects.rpcSubmit, (request) => {
        submits.push(request);
        return result;
      }),
      await answerOn(nats.url, subjects.rpcTools, () => ({
        tools: names.map((name) => ({
          ...{ name, description: 'One of many.', version: 1, effect: 'read', reversible: null },
          ...{ inputSchema: { type: 'object' }, outputSchema: null },
        })),
      })),
    );
  });
  afterAll(async () => {
    for (const stop of stops) await stop();
    await gateway?.close();
    await Promise.all([nats?.stop(), database?.drop()]);
  });

  it('hands a call on as an intent, with the credential, the step and the trace of the message', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const _meta = { 'intendant/stepId': 's1', traceparent };
    const { status, body } = await post({ ...call, params: { ...call.params, _meta } });
    expect(status).toBe(200);
    expect(body).toMatchObject({ id: 2, result: { isError: false, structuredContent: { data: { n: 1 } } } });
    const sent = submits.at(-1);
    expect(JSON.parse(Buffer.from(sent?.payload ?? []).toString())).toEqual({
      ...{ tool: 'orders.get', args: { id: 1 }, stepId: 's1' },
    });
    expect([sent?.headers.get('Authorization'), sent?.headers.get('traceparent')]).toEqual([
      `Bearer ${token}`,
      traceparent,
    ]);
    const unreadable = { ...call.params, _meta: { traceparent: `${traceparent}\r\nIntendant-Wait: 30s` } };
    expect((await post({ ...call, params: unreadable })).body.result.isError).toBe(false);
    expect(submits.at(-1)?.headers.get('traceparent')).toBeUndefined();
  });

  it('lists a large catalogue by pages, in the same order for everybody', async () => {
    const seen: string[] = [];
    for (let cursor: string | undefined, pages = 0; pages === 0 || cursor !== undefined; pages += 1) {
      const { body } = await post({ ...list, params: { ...(cursor !== undefined && { cursor }) } });
      seen.push(...body.result.tools.map(({ name }: { name: string }) => name));
      expect(body.result.tools.length).toBeLessThanOrEqual(50);
      cursor = body.result.nextCursor;
      expect(pages).toBeLessThan(4);
    }
    expect(seen).toEqual(
      [
        ...names,
        ...['cancel', 'get'].map((it) => `intendant.intent.${it}`),
        'intendant.result.get',
        'intendant.tools.search',
      ].sort(),
    );
    const wrong = await post({ ...list, params: { cursor: '!!' } });
    expect(wrong.body.error).toMatchObject({ code: -32_602, data: { error: { code: 'invalid_message' } } });
  });

  it('finds as many tools as there are, by pages, and says how to go on', async () => {
    const seen: string[] = [];
    for (let cursor: string | undefined, left = 120; left > 0; left -= 50) {
      const args = { query: 'one of many', ...(cursor !== undefined && { cursor }) };
      const search = { ...call, params: { name: 'intendant.tools.search', arguments: args } };
      const { structuredContent } = (await post(search)).body.result;
      seen.push(...structuredContent.tools.map(({ name }: { name: string }) => name));
      expect(structuredContent.total).toBe(120);
      cursor = structuredContent.nextCursor;
      const more = left > 50 ? `${left - 50} more, by name: go on with cursor "${cursor}", or narrow` : undefined;
      expect(structuredContent.note?.slice(0, more?.length)).toBe(more);
    }
    expect(seen).toEqual(names);
    const wrong = { ...call, params: { name: 'intendant.tools.search', arguments: { query: 'one', cursor: '!' } } };
    expect((await post(wrong)).body.error).toMatchObject({ data: { error: { code: 'invalid_message' } } });
  });

  it('says of whoever has no good run token what is needed, and where that is described', async () => {
    const before = submits.length;
    const none = await post(call, { credential: null });
    expect(none.status).toBe(401);
    const challenge = none.headers.get('www-authenticate') ?? '';
    const [, where = ''] = /^Bearer resource_metadata="(.*)"$/.exec(challenge) ?? [];
    expect(where).toBe(`${gateway.url}/.well-known/oauth-protected-resource/mcp`);
    expect(await fetch(where).then((response) => response.json())).toMatchObject({
      resource: `${gateway.url}/mcp`,
      bearer_methods_supported: ['header'],
    });
    // Of the server as a whole (RFC 9728, section 3.3: the resource is that whose document was asked for).
    const root = await fetch(`${gateway.url}/.well-known/oauth-protected-resource`);
    expect(await root.json()).toMatchObject({ resource: `${gateway.url}/`, bearer_methods_supported: ['header'] });
    expect(none.body).toMatchObject({
      jsonrpc: '2.0',
      id: null,
      error: { data: { error: { code: 'unauthenticated' } } },
    });
    const wrong = await post(call, { credential: 'wrong' });
    expect([wrong.status, wrong.headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringContaining('error="invalid_token"'),
    ]);
    expect((await post(call, { credential: await tokenFor(runId, 'acme', -1_000) })).status).toBe(401);
    expect((await post(call, { credential: await tokenFor('run_01JD8Q3M1A9S8D7F6G5H4J3K00') })).status).toBe(401);
    expect((await post(call, { credential: await tokenFor(runId, 'umbrella') })).status).toBe(401);
    expect((await post(call, { credential: keys.service })).status).toBe(403);
    expect((await post(call, { credential: keys.operator })).status).toBe(403);
    expect(submits).toHaveLength(before);
  });

  const deep = `${'['.repeat(100)}${']'.repeat(100)}`;
  it.each<[string, unknown, Record<string, string>, number, number]>([
    ['no JSON', '{"jsonrpc":', {}, 400, -32_700],
    ['no text', new Uint8Array([0x22, 0xff, 0x22]), {}, 400, -32_700],
    ['nothing', '', {}, 400, -32_700],
    ['a batch', [list, call], {}, 400, -32_600],
    ['no JSON-RPC', { method: 'tools/list' }, {}, 400, -32_600],
    ['another version of JSON-RPC', { ...list, jsonrpc: '1.0' }, {}, 400, -32_600],
    ['a name twice', '{"jsonrpc":"2.0","id":1,"method":"tools/list","method":"tools/call"}', {}, 400, -32_600],
    [
      'an argument that a parser would change',
      JSON.stringify(call).replace('"id":1', '"id":12345678901234567890'),
      {},
      400,
      -32_600,
    ],
    ['nesting without end', JSON.stringify(call).replace('"id":1', `"id":${deep}`), {}, 400, -32_600],
    ['more than 256 KiB', JSON.stringify({ ...call, pad: 'x'.repeat(262_144) }), {}, 413, -32_600],
    ['another content type', 'tool=x', { 'content-type': 'application/x-www-form-urlencoded' }, 415, -32_000],
    ['text', JSON.stringify(list), { 'content-type': 'text/plain' }, 415, -32_000],
    ['what is compressed', JSON.stringify(list), { 'content-encoding': 'gzip' }, 415, -32_000],
    ['a host that is not this one', list, { host: 'evil.example.com' }, 403, -32_000],
    ['an origin of another site', list, { origin: 'https://evil.example.com' }, 403, -32_000],
    ['an answer that is not wanted', list, { accept: 'text/html' }, 406, -32_000],
    ['a revision that nobody knows', list, { 'mcp-protocol-version': '1999-01-01' }, 400, -32_000],
    ['a method that is not there', { ...list, method: 'tools/drop' }, {}, 200, -32_601],
    ['a method of another revision', { ...list, method: 'server/discover' }, {}, 200, -32_601],
    ['a name that is no text', { ...call, params: { name: 5 } }, {}, 200, -32_602],
    ['arguments that are no object', { ...call, params: { name: 'orders.get', arguments: [] } }, {}, 200, -32_602],
    ['a call of nothing', { ...call, params: undefined }, {}, 200, -32_602],
    ['a cursor that is no text', { ...list, params: { cursor: 5 } }, {}, 200, -32_602],
    ['a greeting without words', { ...list, method: 'initialize', params: {} }, {}, 200, -32_602],
    [
      'a token for progress that is none',
      { ...call, params: { ...call.params, _meta: { progressToken: {} } } },
      {},
      200,
      -32_602,
    ],
  ])('answers %s as the protocol says, and nothing is recorded', async (what, body, headers, status, code) => {
    const before = submits.length;
    const answer = await (what === 'a host that is not this one' ? withHost(body) : post(body, { headers }));
    expect(answer.status, answer.text).toBe(status);
    const { message } = answer.body.error;
    const error = { message, category: expect.stringMatching(/^(validation|policy)$/), retryable: false };
    expect(answer.body).toMatchObject({ jsonrpc: '2.0', error: { code, data: { error } } });
    expect(message).toMatch(/^[A-Z/][^\n]+$/);
    expect(answer.text).not.toMatch(/node_modules|\.js:|\.ts:|invalid_type/);
    expect(submits).toHaveLength(before);
  });

  it('says of parameters of the wrong kind where they are, what was expected, and what was there', async () => {
    const both = await post({ ...call, params: { name: 5, arguments: [] } });
    expect(both.body).toMatchObject({
      id: 2,
      error: {
        message: '/params/name: expected a string, got a number (and 1 more).',
        data: { error: { details: { problems: [{ pointer: '/params/name' }, { pointer: '/params/arguments' }] } } },
      },
    });
    const meta = { ...call, params: { name: 5, _meta: envelope('2026-07-28') } };
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': '5' };
    const greeting = { ...list, method: 'initialize', params: { _meta: envelope('2026-07-28') } };
    const gone = await post(greeting, { headers: { ...headers, 'mcp-method': 'initialize' } });
    expect([gone.status, gone.body.error.code]).toEqual([404, -32_601]);
    expect((await post(meta, { headers })).body.error.message).toBe('/params/name: expected a string, got a number.');
  });

  it.each(['GET', 'DELETE'])('has no sessions, so nothing to %s', async (method) => {
    for (const more of [{}, { 'content-type': 'application/json' }] as Record<string, string>[]) {
      const headers = { accept, authorization: `Bearer ${token}`, ...more };
      const answer = await fetch(`${gateway.url}/mcp`, { method, headers });
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
      const error = { code: -32_000, data: { error: { code: 'invalid_message' } } };
      expect(await answer.json()).toMatchObject({ jsonrpc: '2.0', error });
    }
  });

  it('refuses a message of 2026-07-28 whose headers say something else', async () => {
    const _meta = envelope('2026-07-28');
    const message = { ...call, params: { ...call.params, _meta } };
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'orders.get' };
    expect((await post(message, { headers })).status).toBe(200);
    const before = submits.length;
    for (const wrong of [{ 'mcp-method': 'tools/list' }, { 'mcp-name': 'orders.cancel' }]) {
      const { status, body } = await post(message, { headers: { ...headers, ...wrong } });
      expect([status, body.error.code]).toEqual([400, -32_020]);
      expect(body.error.data).toMatchObject({ mismatch: {}, error: { code: 'invalid_message' } });
    }
    expect(submits).toHaveLength(before);
  });

  it('names the revisions it speaks to whoever asks for another', async () => {
    const _meta = envelope('2099-01-01');
    const headers = { 'mcp-protocol-version': '2099-01-01', 'mcp-method': 'tools/list' };
    const modern = await post({ ...list, params: { _meta } }, { headers });
    expect([modern.status, modern.body.error]).toMatchObject([
      400,
      {
        code: -32_022,
        data: { supported: ['2026-07-28'], requested: '2099-01-01', error: { code: 'invalid_message' } },
      },
    ]);
    const hello = { protocolVersion: '2024-11-05', capabilities: {}, clientInfo: { name: 'spec', version: '1' } };
    const legacy = await post({ jsonrpc: '2.0', id: 1, method: 'initialize', params: hello });
    expect(legacy.body.result.protocolVersion).toBe('2025-11-25');
    const tools = await post(list, { headers: { 'mcp-protocol-version': '2025-06-18' } });
    expect(tools.body.result.tools).toHaveLength(50);
  });

  it('has no streams that stay open without a call', async () => {
    const _meta = envelope('2026-07-28');
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' };
    const params = { notifications: { toolsListChanged: true }, _meta };
    const { status, text } = await post({ jsonrpc: '2.0', id: 7, method: 'subscriptions/listen', params }, { headers });
    expect([status, text]).toEqual([200, expect.stringContaining('"id":7,"result"')]);
  });

  it('refuses unknown ways of listing', async () => {
    const answer = await fetch(`${gateway.url}/mcp?tools=all`, {
      method: 'POST',
      headers: { accept, 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify(list),
    });
    expect([answer.status, await answer.json()]).toMatchObject([400, { error: { code: -32_600 } }]);
  });

  /** `fetch` sends no Host but its own. */
  async function withHost(body: unknown) {
    const { request } = await import('node:http');
    const { text: textOf } = await import('node:stream/consumers');
    return new Promise<Awaited<ReturnType<typeof post>>>((resolve, reject) => {
      const headers = {
        host: 'evil.example.com',
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
      };
      const sent = request(`${gateway.url}/mcp`, { method: 'POST', headers }, (response) => {
        textOf(response).then(
          (text) => resolve({ status: response.statusCode ?? 0, headers: new Headers(), body: JSON.parse(text), text }),
          reject,
        );
      });
      sent.on('error', reject);
      sent.end(JSON.stringify(body));
    });
  }
});
