import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HttpUpstream, PreviewDefinition, ToolDefinition, Upstream } from '@intendant/contracts';
import type { JsonObject } from '@intendant/intent';
import { MisbehavingServer, response, toolAt } from '@intendant/testing';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startUpstream } from '../../../examples/upstream/server.js';
import { asking, attempt } from './asking.spec-helper.js';
import { parseCredentials } from './credential-rules.js';
import { Egress } from './egress.js';
import { readEgressRules } from './egress-rules.js';
import { type PreviewAnswer, Upstreams } from './index.js';
import { McpServerOverHttp } from './mcp-server.spec-helper.js';

let server: MisbehavingServer;
let adapter: Upstreams;

beforeAll(async () => {
  server = await MisbehavingServer.start();
  const credentials = parseCredentials('{ pay: { bearer: tok_real_1 }, pay_test: { bearer: tok_test_1 } }', {});
  adapter = new Upstreams(() => null, { maxResponseBytes: 100_000, credentials: () => credentials });
});
afterAll(async () => {
  await adapter.close();
  await server.stop();
});

const get = { kind: 'http', method: 'GET', path: '/look?o={{order}}', headers: {}, body: null } as const;
const token = { read: '$headers.etag', apply: { kind: 'if_match' }, changedStatuses: [412] } as const;
const definition: PreviewDefinition = {
  request: get,
  use: 'real',
  before: 'now',
  after: '$merge([now, $args])',
  token,
};

/** A tool of the misbehaving server with a preview; `upstream` and `tool` differ from the usual ones. */
function toolWith(
  preview: Partial<PreviewDefinition> | null = {},
  upstream: Partial<HttpUpstream> = {},
  tool: Partial<ToolDefinition> = {},
) {
  const plain = toolAt(server.url, { upstream, tool: tool as object });
  return { ...plain, approval: { ...plain.approval, preview: preview && { ...definition, ...preview } } };
}

const args = { order: 'o1' };
const preview = (tool: ToolDefinition, over = {}) => adapter.preview(asking(tool, { args, ...over }));

function answered(answer: string, tool: ToolDefinition = toolWith(), over = {}): Promise<PreviewAnswer> {
  server.script({ at: 'request', send: answer, then: 'keep' });
  return preview(tool, over);
}

const shown = (body: unknown = { now: { n: 1 } }, headers: Record<string, string> = { ETag: '"v1"' }) =>
  response(200, JSON.stringify(body), headers);

describe('a preview', () => {
  test('shows what is there, what will be there, and the state that this rests on', async () => {
    expect(await answered(shown())).toEqual({
      kind: 'shown',
      before: { n: 1 },
      after: { n: 1, order: 'o1' },
      token: '"v1"',
    });
    const request = server.requests.at(-1);
    expect(request).toMatchObject({ method: 'GET', path: '/look?o=o1', body: { text: '' } });
    expect(request?.headers).not.toHaveProperty('idempotency-key');
    expect(request?.headers).not.toHaveProperty('x-attempt-id');
  });

  test('sees fields of the answer by their names, and facts and arguments as variables whatever those are called', async () => {
    const after = '[status, headers, args, $status, $headers.`x-version`, $args.order, $data.status]';
    const body = { status: 'open', headers: 'h', args: 1 };
    const tool = toolWith({ before: null, after, token: null });
    expect(await answered(shown(body, { 'X-Version': '7' }), tool)).toEqual({
      kind: 'shown',
      before: null,
      after: ['open', 'h', 1, 200, '7', 'o1', 'open'],
      token: null,
    });
  });

  test('carries the headers and the credential of the tool, its own headers and its body', async () => {
    const request = {
      ...get,
      method: 'POST',
      path: '/look',
      headers: { 'X-Why': 'look' },
      body: '{ "o": args.order, "k": key }',
    } as const;
    const tool = toolWith({ request }, { headers: { 'X-Team': 'a', 'X-Why': 'act' }, credential: 'pay' });
    expect(await answered(shown(), tool)).toMatchObject({ kind: 'shown' });
    const seen = server.requests.at(-1);
    expect(seen).toMatchObject({
      method: 'POST',
      headers: {
        'x-why': 'look',
        'x-team': 'a',
        authorization: 'Bearer tok_real_1',
        'content-type': 'application/json',
      },
    });
    expect(JSON.parse(seen?.body.text ?? '')).toEqual({ o: 'o1', k: 'k' });
  });

  test('of a sandbox call asks the sandbox, and that of a real call where the tool file says so', async () => {
    const elsewhere = await MisbehavingServer.start();
    onTestFinished(() => elsewhere.stop());
    const { upstream } = toolAt(elsewhere.url, { upstream: { credential: 'pay_test', name: 'there' } });
    const before = server.requests.length;
    for (const [use, sandbox] of [
      ['real', true],
      ['sandbox', false],
    ] as const) {
      elsewhere.script({ at: 'request', send: shown(), then: 'keep' });
      const tool = toolWith({ use, token: null }, { credential: 'pay' }, { sandbox: upstream });
      expect(await preview(tool, { sandbox })).toMatchObject({ kind: 'shown' });
      expect(elsewhere.requests.at(-1)?.headers).toMatchObject({ authorization: 'Bearer tok_test_1' });
    }
    expect(server.requests.length).toBe(before);
    const without = toolWith({ use: 'sandbox', token: null });
    expect(await preview(without)).toMatchObject({ kind: 'failed', cause: 'no_sandbox' });
  });

  test('shows no secret that it carried', async () => {
    const tool = toolWith({ before: 'now', after: 'now' }, { credential: 'pay' });
    expect(await answered(shown({ now: 'by tok_real_1' }), tool)).toMatchObject({
      before: 'by [redacted]',
      after: 'by [redacted]',
    });
    const secret = toolWith({ after: 'now', request: { ...get, headers: { 'X-Api-Key': 'key_of_preview' } } });
    expect(await answered(shown({ now: 'key_of_preview' }), secret)).toMatchObject({ before: '[redacted]' });
    expect(await answered(response(403, 'no key_of_preview here'), secret)).toMatchObject({
      detail: 'the preview answered 403: no [redacted] here',
    });
    expect(await answered(shown(undefined, { ETag: '"tok_real_1"' }), tool)).toEqual({
      kind: 'failed',
      cause: 'token_unusable',
      detail: '"token" repeats a secret of the request',
    });
  });

  test('of exactly the most that is shown is shown, and of more is not', async () => {
    const tool = toolWith({ before: null, after: 'data.now', token: null });
    const most = 16 * 1024 - 2;
    expect(await answered(shown({ now: 'x'.repeat(most) }), tool)).toMatchObject({ kind: 'shown' });
    expect(await answered(shown({ now: 'x'.repeat(most + 1) }), tool)).toEqual({
      kind: 'failed',
      cause: 'preview_unreadable',
      detail: '"after" has 16385 bytes of JSON; at most 16384 are shown',
    });
  });

  test.each([202, 204, 206, 302, 304, 401, 404, 409, 412, 429, 500, 503])(
    'that answers %i shows nothing',
    async (status) => {
      expect(await answered(response(status, status === 204 || status === 304 ? '' : '{"now":{}}'))).toMatchObject({
        kind: 'failed',
        cause: `http_${status}`,
      });
    },
  );

  test.each<[string, string, Partial<PreviewDefinition>, string]>([
    ['no JSON', response(200, '<html>'), {}, 'the preview answered no JSON: <html>'],
    ['nothing', response(200), {}, 'the preview answered no JSON'],
    ['too much', shown({ now: 'x'.repeat(200_000) }), {}, 'the preview answered too much'],
    ['no state of before', shown({ other: 1 }), {}, '"before" selects nothing for this answer'],
    ['no state of after', shown(), { after: 'later' }, '"after" selects nothing for this answer'],
    ['what an expression fails on', shown(), { after: '$error("no order")' }, 'no order'],
    [
      'text that cannot be kept',
      shown({ now: 'a\u0000' }),
      { after: 'now' },
      '"before" has text with NUL or half a surrogate pair',
    ],
  ])('that answers %s shows nothing', async (_, answer, changes, detail) => {
    expect(await answered(answer, toolWith(changes))).toMatchObject({
      kind: 'failed',
      cause: 'preview_unreadable',
      detail: expect.stringContaining(detail),
    });
  });

  test('may say a backslash before what looks like a NUL', async () => {
    expect(await answered(shown({ now: 'C:\\u0000' }), toolWith({ after: 'now' }))).toMatchObject({
      before: 'C:\\u0000',
    });
  });

  test.each<[string, string | undefined, Partial<NonNullable<PreviewDefinition['token']>>, string]>([
    ['no token', undefined, {}, '"token" selects nothing for this answer'],
    ['an empty token', undefined, { read: '""' }, '"token" selects nothing for this answer'],
    ['a list as a token', undefined, { read: '[1]' }, '"token" is neither text nor a number'],
    ['a broken number', undefined, { read: '1.5' }, '"token" is 1.5; a number must be whole and exact'],
    ['a number that JSON cannot keep', undefined, { read: '9007199254740993' }, 'a number must be whole and exact'],
    ['a long token', `"${'x'.repeat(600)}"`, {}, '"token" has 602 characters; at most 512 are kept'],
    ['every state as a token', '*', {}, '"token" is not one entity tag, such as "v7"'],
    ['two states as a token', '"v1", "v2"', {}, '"token" is not one entity tag'],
    [
      'a token with NUL',
      undefined,
      { read: '"a\\u0000"', apply: { kind: 'reread' } },
      '"token" has text with NUL or half a surrogate pair, which cannot be kept',
    ],
    [
      'a token with a line break',
      undefined,
      { read: '"a\\r\\nX-Evil: 1"', apply: { kind: 'header', name: 'X-V' } },
      '"token" has characters that a header cannot carry',
    ],
  ])('that brings %s fails, since nothing would tie the call to it', async (_, etag, changes, detail) => {
    const answer = shown(undefined, etag === undefined ? {} : { ETag: etag });
    expect(await answered(answer, toolWith({ token: { ...token, ...changes } }))).toMatchObject({
      kind: 'failed',
      cause: 'token_unusable',
      detail: expect.stringContaining(detail),
    });
  });

  test('that gets no answer says why', async () => {
    server.script({ at: 'request', then: 'reset' });
    expect(await preview(toolWith())).toMatchObject({ kind: 'failed', cause: 'reset_after_send' });
    server.script({ at: 'request', then: 'hang' });
    const limits = { ...toolWith().limits, callMs: 200 };
    expect(await preview({ ...toolWith(), limits })).toMatchObject({ kind: 'failed', cause: 'call_timeout' });
    expect(await preview(toolWith({}, { baseUrl: 'http://127.0.0.1:9' }))).toMatchObject({
      kind: 'failed',
      cause: 'connect_refused',
    });
  });

  test('is not asked without its values, its credential, or where calls must not go', async () => {
    const before = server.requests.length;
    expect(await preview(toolWith(), { args: { order: '' } })).toEqual({
      kind: 'failed',
      cause: 'request_mapping',
      detail: '{{order}} is empty, which asks for everything',
    });
    expect(await preview(toolWith(null))).toEqual({
      kind: 'failed',
      cause: 'no_preview',
      detail: 'test.act has no preview',
    });
    expect(await preview(toolWith({}, { credential: 'none' }))).toMatchObject({ cause: 'credential_unavailable' });
    const aborted = await adapter.preview(asking(toolWith(), { args }), {
      signal: AbortSignal.abort(new Error('enough')),
    });
    expect(aborted).toMatchObject({ kind: 'failed', cause: 'aborted_unsent' });
    const fenced = new Upstreams(() => null, {
      egress: new Egress(readEgressRules({ INTENDANT_EGRESS_HOSTS: 'api.example' })),
    });
    onTestFinished(() => fenced.close());
    expect(await fenced.preview(asking(toolWith(), { args }))).toMatchObject({
      kind: 'failed',
      cause: 'egress_refused',
    });
    expect(server.requests.length).toBe(before);
  });
});

describe('a call with the state token of its preview', () => {
  let attempts = 0;

  async function called(
    tool: ToolDefinition,
    stateToken: string | number | undefined,
    answer = response(200, '{"id":1}'),
  ) {
    server.script({ at: 'request', send: answer, then: 'keep' });
    const request = { ...attempt(tool, `t-${++attempts}`, { args }), ...(stateToken !== undefined && { stateToken }) };
    return { verdict: await adapter.call(request, { mayStart: () => true }), seen: server.requests.at(-1) };
  }
  const applied = (apply: NonNullable<PreviewDefinition['token']>['apply'], changedStatuses = [412], upstream = {}) =>
    toolWith({ token: { read: 'version', apply, changedStatuses } }, upstream);
  const ifMatch = () => applied({ kind: 'if_match' });
  const refused = { kind: 'not_executed', cause: 'state_changed', transient: false, retryAfterMs: null };

  test('carries it as If-Match, as another header, or among the arguments that the body is made of', async () => {
    expect((await called(ifMatch(), '"v1"')).seen?.headers).toMatchObject({ 'if-match': '"v1"' });
    expect((await called(applied({ kind: 'header', name: 'X-Version' }), 7)).seen?.headers).toMatchObject({
      'x-version': '7',
    });
    const field = applied({ kind: 'field', name: 'version' });
    expect(JSON.parse((await called(field, 7)).seen?.body.text ?? '')).toEqual({ order: 'o1', version: 7 });
    const mapped = applied({ kind: 'field', name: 'version' }, [412], {
      body: '{ "if": { "rev": $args.version } }',
    });
    expect(JSON.parse((await called(mapped, '7')).seen?.body.text ?? '')).toEqual({ if: { rev: '7' } });
  });

  test('carries nothing where there is none', async () => {
    const { seen, verdict } = await called(ifMatch(), undefined);
    expect(verdict).toMatchObject({ kind: 'executed' });
    expect(seen?.headers).not.toHaveProperty('if-match');
  });

  test('did not run when the upstream says that something else is there', async () => {
    for (const apply of [
      { kind: 'if_match' },
      { kind: 'header', name: 'X-V' },
      { kind: 'field', name: 'v' },
    ] as const) {
      const { verdict } = await called(applied(apply), '"v1"', response(412, 'is v2', { 'retry-after': '1' }));
      expect(verdict).toEqual({ ...refused, detail: 'what was approved is not what is there any more: is v2' });
    }
    const more = applied({ kind: 'if_match' }, [409, 428]);
    expect((await called(more, '"v1"', response(409))).verdict).toMatchObject(refused);
    expect((await called(more, '"v1"', response(412))).verdict).toMatchObject({ kind: 'unknown', cause: 'http_412' });
  });

  test('is read as ever without a token, and by the rules of the tool first', async () => {
    expect((await called(ifMatch(), undefined, response(412))).verdict).toMatchObject({
      kind: 'unknown',
      cause: 'http_412',
    });
    const outcomes = [{ when: 'status = 412 and done', means: 'executed', receipt: 'data' }] as const;
    const ruled = applied({ kind: 'if_match' }, [412], { outcomes });
    expect((await called(ruled, '"v1"', response(412, '{"done":true}'))).verdict).toMatchObject({ kind: 'executed' });
    expect((await called(ruled, '"v1"', response(412, '{"done":false}'))).verdict).toMatchObject(refused);
    // A part of an answer might have gone on to say that it was done.
    const cut = response(412, '{"do', { 'content-type': 'application/json' });
    expect((await called(ruled, '"v1"', cut)).verdict).toMatchObject({ kind: 'unknown', cause: 'answer_broken' });
  });

  test('is not sent where the tool no longer says how, or with a token that would hold for every state', async () => {
    const before = server.requests.length;
    const refusal = { kind: 'not_executed', cause: 'request_mapping', transient: false, sent: false };
    const call = (tool: ToolDefinition, stateToken: string) =>
      adapter.call({ ...attempt(tool, 'never', { args }), stateToken }, { mayStart: () => true });
    expect(await call(toolWith({ token: null }), '"v1"')).toMatchObject({
      ...refusal,
      detail: 'test.act does not say how its state token is applied',
    });
    expect(await call(ifMatch(), '*')).toMatchObject(refusal);
    expect(server.requests.length).toBe(before);
  });

  describe('that is read again', () => {
    const tool = () => applied({ kind: 'reread' });
    const call = (stateToken: string | number, options: { mayStart?: () => boolean } = {}) =>
      adapter.call(
        { ...attempt(tool(), `r-${++attempts}`, { args }), stateToken },
        { mayStart: () => true, ...options },
      );
    const state = (version: unknown) => shown({ now: { n: 1 }, version });
    const later = (...answers: string[]) =>
      server.script(...answers.map((send) => ({ at: 'request', send, then: 'keep' }) as const));

    test('leaves when the preview still brings it', async () => {
      const before = server.requests.length;
      later(state(3));
      expect(await call(3)).toEqual({ kind: 'executed', data: { ok: true } });
      expect(server.requests.slice(before).map(({ path }) => path)).toEqual(['/look?o=o1', '/act']);
    });

    test.each([4, '3', 'v'])('does not leave when it brings %j', async (version) => {
      const before = server.requests.length;
      later(state(version));
      expect(await call(3)).toEqual({
        ...refused,
        detail: 'what was approved is not what is there any more',
        sent: false,
      });
      expect(server.requests.length).toBe(before + 1);
    });

    test('does not leave when nothing can be read, which may pass', async () => {
      later(response(503, 'busy'));
      expect(await call(3)).toMatchObject({
        kind: 'not_executed',
        cause: 'preview_failed',
        transient: true,
        sent: false,
        detail: 'http_503: the preview answered 503: busy',
      });
    });

    test('does not leave when its lease is over after the look', async () => {
      later(state(3));
      const before = server.requests.length;
      expect(await call(3, { mayStart: () => false })).toMatchObject({ cause: 'lease_over', sent: false });
      expect(server.requests.length).toBe(before + 1);
    });
  });
});

describe('a round trip to an upstream that compares', () => {
  const order = { order_id: 'ord_1', amount_cents: 500 };
  const request = { ...get, path: '/refunds/preview?order_id={{order_id}}&amount_cents={{amount_cents}}' } as const;

  async function refunding(token: NonNullable<PreviewDefinition['token']>) {
    const upstream = await startUpstream();
    onTestFinished(() => upstream.close());
    const plain = toolAt(upstream.url, { upstream: { path: '/refunds' } });
    const asked: PreviewDefinition = { request, use: 'real', before: 'before', after: 'after', token };
    const tool = { ...plain, approval: { ...plain.approval, preview: asked } };
    const look = () => adapter.preview(asking(tool, { args: order }));
    const refund = (key: string, preview: PreviewAnswer | null) => {
      const stateToken = preview?.kind === 'shown' && preview.token !== null ? { stateToken: preview.token } : {};
      return adapter.call(
        { ...attempt(tool, `a-${key}`, { args: order, key }), ...stateToken },
        { mayStart: () => true },
      );
    };
    const effects = () => upstream.ledger().filter(({ kind }) => kind === 'effect').length;
    return { look, refund, effects };
  }

  test.each([
    ['if_match', { read: '$headers.etag', apply: { kind: 'if_match' }, changedStatuses: [412] }],
    ['header', { read: 'version', apply: { kind: 'header', name: 'X-Version' }, changedStatuses: [412] }],
    ['field', { read: 'version', apply: { kind: 'field', name: 'version' }, changedStatuses: [412] }],
    ['reread', { read: 'version', apply: { kind: 'reread' }, changedStatuses: [412] }],
  ] as const)('by %s refunds what was shown, and nothing once something else is there', async (_, token) => {
    const { look, refund, effects } = await refunding(token);
    const first = await look();
    expect(first).toMatchObject({ kind: 'shown', before: { refunded_cents: 0 }, after: { refunded_cents: 500 } });
    expect(await refund('k1', first)).toMatchObject({ kind: 'executed' });
    expect(await refund('k2', first)).toMatchObject({ kind: 'not_executed', cause: 'state_changed', transient: false });
    expect(effects()).toBe(1);
    const again = await look();
    expect(again).toMatchObject({ kind: 'shown', before: { refunded_cents: 500 } });
    expect(await refund('k3', again)).toMatchObject({ kind: 'executed' });
    expect(effects()).toBe(2);
  });
});

describe('a preview of another kind of upstream', () => {
  const of = (upstream: Upstream, preview: PreviewDefinition): ToolDefinition => {
    const plain = toolAt('http://nowhere');
    return { ...plain, upstream, approval: { ...plain.approval, preview } };
  };
  const shared = { name: 'other', concurrency: 8, outcomes: [], credential: null, lookup: null, poll: null };
  const field = { read: 'version', apply: { kind: 'field', name: 'version' }, changedStatuses: [412] } as const;

  test('asks another tool of the MCP server, and hands the token over with the arguments', async () => {
    const calls: { name: string; args: JsonObject; key: unknown }[] = [];
    const mcp = await McpServerOverHttp.start(({ name, args, meta }) => {
      calls.push({ name, args, key: meta['intendant/key'] });
      return name === 'look'
        ? { content: [], structuredContent: { now: 'open', version: 3 } }
        : { content: [], structuredContent: { id: 1 } };
    });
    onTestFinished(() => mcp.stop());
    const upstream: Upstream = {
      ...{ ...shared, kind: 'mcp', server: { transport: 'http', url: mcp.url, headers: {} } },
      ...{ tool: 'act', arguments: '$args' },
    };
    const asked = { kind: 'mcp', tool: 'look', arguments: '{ "o": $args.order }' } as const;
    const tool = of(upstream, { request: asked, use: 'real', before: 'now', after: '$args.order', token: field });
    expect(await preview(tool)).toEqual({ kind: 'shown', before: 'open', after: 'o1', token: 3 });
    await adapter.call({ ...attempt(tool, 'm-1', { args }), stateToken: 3 }, { mayStart: () => true });
    expect(calls).toEqual([
      { name: 'look', args: { o: 'o1' }, key: undefined },
      { name: 'act', args: { order: 'o1', version: 3 }, key: 'k' },
    ]);
  });

  test('calls a function of the module, whose failure shows nothing', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'intendant-preview-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const path = join(folder, 'tool.ts');
    await writeFile(
      path,
      `import { defineTool, type Json } from 'intendant/tool';
      export default defineTool<{ order: string; version?: number }, Json>({
        execute: ({ args }) => ({ done: args.version ?? null }),
        preview: ({ args }) => {
          if (args.order === 'o2') throw new Error('no such order');
          return args.order === 'o3' ? (new Map() as never) : { now: args.order, version: 3 };
        },
      });`,
    );
    const upstream: Upstream = { ...shared, kind: 'module', path };
    const tool = of(upstream, {
      request: { kind: 'module' },
      use: 'real',
      before: 'now',
      after: '$args.order',
      token: field,
    });
    expect(await preview(tool)).toEqual({ kind: 'shown', before: 'o1', after: 'o1', token: 3 });
    const call = adapter.call({ ...attempt(tool, 'f-1', { args }), stateToken: 3 }, { mayStart: () => true });
    expect(await call).toEqual({ kind: 'executed', data: { done: 3 } });
    expect(await preview(tool, { args: { order: 'o2' } })).toEqual({
      kind: 'failed',
      cause: 'no_answer',
      detail: '`preview` failed: no such order',
    });
    expect(await preview(tool, { args: { order: 'o3' } })).toMatchObject({
      kind: 'failed',
      cause: 'preview_unreadable',
    });
  });

  test('runs another program, whose failure shows nothing', async () => {
    const cwd = await mkdtemp(join(tmpdir(), 'intendant-preview-'));
    onTestFinished(() => rm(cwd, { recursive: true }));
    const node = (script: string, ...more: string[]) => [process.execPath, '-e', script, ...more] as const;
    const upstream: Upstream = {
      ...{ ...shared, kind: 'process', argv: node('process.stdin.pipe(process.stdout)'), cwd, env: {} },
      ...{ input: '$args', maxOutputBytes: 10_000, exits: {} },
    };
    const look = 'process.stdout.write(JSON.stringify({ now: process.argv[1], version: "v3" }))';
    const shows = { use: 'real', before: 'now', after: '$exit', token: field } as const;
    const tool = of(upstream, { request: { kind: 'process', argv: node(look, '--', '{{order}}') }, ...shows });
    expect(await preview(tool)).toEqual({ kind: 'shown', before: 'o1', after: 0, token: 'v3' });
    const call = adapter.call({ ...attempt(tool, 'p-1', { args }), stateToken: 'v3' }, { mayStart: () => true });
    expect(await call).toEqual({ kind: 'executed', data: { order: 'o1', version: 'v3' } });
    const broken = of(upstream, { request: { kind: 'process', argv: node('process.exit(3)') }, ...shows });
    expect(await preview(broken)).toMatchObject({
      kind: 'failed',
      cause: 'no_answer',
      detail: expect.stringContaining('exit 3'),
    });
  });
});
