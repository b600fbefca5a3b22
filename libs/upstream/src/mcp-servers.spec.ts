import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { McpUpstream, ToolDefinition } from '@intendant/contracts';
import type { JsonObject, Verdict } from '@intendant/intent';
import { toolAt, until } from '@intendant/testing';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, inputRequired, Server } from '@modelcontextprotocol/server';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Credential } from './credential.js';
import { Egress } from './egress.js';
import { McpAdapter } from './mcp-adapter.js';
import { McpHttp } from './mcp-http.js';
import { McpProcess } from './mcp-process.js';
import { McpServerOverHttp, type ServeCall } from './mcp-server.spec-helper.js';
import { Pools } from './pools.js';

let adapter: McpAdapter;

beforeEach(() => {
  adapter = new McpAdapter(() => null, 100_000, new Pools());
});
afterEach(() => adapter.close());

let calls = 0;

function call(server: McpUpstream['server'], options: Options = {}): Promise<Verdict> {
  const { credential = null, signal, limits = {}, changes = {}, file, by = adapter, args = { n: 1 } } = options;
  const upstream: McpUpstream = {
    kind: 'mcp',
    name: 'real',
    concurrency: 8,
    outcomes: [],
    credential: null,
    server,
    tool: 'act',
    arguments: '$args',
    lookup: null,
    poll: null,
    ...changes,
  };
  const tool: ToolDefinition = { ...toolAt('http://nowhere', { limits }), upstream };
  return by.call(
    {
      upstream,
      credential,
      request: {
        tool: file === undefined ? tool : { ...tool, file },
        args,
        key: 'k',
        intentId: 'i',
        tenant: 't',
        runId: 'run_1',
        attemptId: `a-${++calls}`,
        sandbox: false,
      },
    },
    { signal, mayStart: () => true },
  );
}

interface Options {
  readonly credential?: Credential;
  readonly signal?: AbortSignal;
  readonly limits?: Partial<ToolDefinition['limits']>;
  readonly changes?: Partial<McpUpstream>;
  readonly file?: string;
  readonly by?: McpAdapter;
  readonly args?: JsonObject;
}

const bearer = (secret: string, refused?: () => void): Credential => ({
  header: { name: 'Authorization', value: `Bearer ${secret}` },
  secret,
  ...(refused && { refused }),
});

describe('a server over HTTP', () => {
  let server: McpServerOverHttp;
  let serve: ServeCall;

  beforeEach(async () => {
    serve = () => ({ content: [], structuredContent: { id: 'r-1' } });
    server = await McpServerOverHttp.start((served) => serve(served));
  });
  afterEach(async () => {
    await adapter.close();
    await server.stop();
  });
  const here = (): McpUpstream['server'] => ({ transport: 'http', url: server.url, headers: {} });

  test('keeps one session for many calls, at once and in turn, and is told when it ends', async () => {
    await Promise.all([call(here()), call(here()), call(here())]);
    await call(here());
    expect(server.count('initialize')).toBe(1);
    expect(server.count('tools/call')).toBe(4);
    expect(server.sessions).toBe(1);
    await adapter.close();
    expect(server.sessions).toBe(0);
  });

  test('keeps one session per credential', async () => {
    const seen: unknown[] = [];
    serve = ({ headers }) => {
      seen.push(headers.authorization);
      return { content: [] };
    };
    for (const secret of ['one', 'two', 'one']) await call(here(), { credential: bearer(secret) });
    expect(seen).toEqual(['Bearer one', 'Bearer two', 'Bearer one']);
    expect(server.sessions).toBe(2);
  });

  test('that was restarted and has forgotten the session executes the next attempt', async () => {
    await call(here());
    server.forgetSessions();
    expect(await call(here())).toMatchObject({ kind: 'not_executed', cause: 'http_404', transient: true });
    expect(await call(here())).toMatchObject({ kind: 'executed' });
  });

  test('hears that a call was given up, and others go on', async () => {
    const given = new AbortController();
    let pending: Promise<Verdict> | undefined;
    const signal = await new Promise<AbortSignal>((arrived) => {
      serve = async (served) => {
        arrived(served.signal);
        await once(served.signal, 'abort');
        return { content: [] };
      };
      pending = call(here(), { signal: given.signal });
    });
    serve = () => ({ content: [], structuredContent: { id: 'r-2' } });
    given.abort();
    expect(await pending).toMatchObject({ kind: 'unknown', cause: 'aborted' });
    await until(() => signal.aborted, 'the tool hears of it');
    expect(await call(here())).toEqual({ kind: 'executed', data: { id: 'r-2' } });
    expect(server.count('notifications/cancelled')).toBe(1);
  });

  test('that does not have the tool is sent no call, is told apart from one that says nothing, and may get it', async () => {
    server.list = () => ({ names: ['acts'] });
    const missing = { kind: 'not_executed', cause: 'adapter_missing', transient: true, sent: false };
    expect(await call(here())).toMatchObject({ ...missing, detail: 'the server has no tool act' });
    expect(server.count('tools/call')).toBe(0);
    server.list = (cursor) => (cursor === undefined ? { names: ['acts'], next: '2' } : { names: ['act'] });
    expect(await call(here())).toMatchObject({ kind: 'executed' });
    const asked = server.count('tools/list');
    expect(await call(here())).toMatchObject({ kind: 'executed' });
    expect(server.count('tools/list')).toBe(asked);
  });

  test('whose tool runs as a task only is sent no call; one that may run as a task is called', async () => {
    server.list = () => ({ names: ['act'], taskSupport: 'required' });
    expect(await call(here())).toMatchObject({
      ...{ kind: 'not_executed', cause: 'adapter_missing', sent: false },
      detail: 'the server runs act as a task only, and no call is made as a task',
    });
    expect(server.count('tools/call')).toBe(0);
    server.list = () => ({ names: ['act'], taskSupport: 'optional' });
    expect(await call(here())).toMatchObject({ kind: 'executed' });
  });

  test.each<[string, McpServerOverHttp['list']]>([
    ['fails', () => Promise.reject(new Error('no list'))],
    ['does not come', () => new Promise(() => {})],
    ['has no end', (cursor) => ({ names: [], next: `${cursor}.` })],
  ])('whose list of tools %s is called all the same', async (_, list) => {
    server.list = list;
    expect(await call(here(), { limits: { connectMs: 4_000 } })).toMatchObject({ kind: 'executed' });
  });

  test('whose tool throws says nothing', async () => {
    serve = () => {
      throw new Error('half-way');
    };
    expect(await call(here())).toMatchObject({ kind: 'unknown', cause: 'rpc_-32603' });
  });

  test('that calls the result of its own tool invalid params has run the tool', async () => {
    let effects = 0;
    serve = () => {
      effects += 1;
      return { content: 'no list' } as never;
    };
    expect(await call(here())).toMatchObject({ kind: 'unknown', cause: 'rpc_-32602' });
    expect(effects).toBe(1);
  });
});

test('a server that the deployment may not call is not called', async () => {
  const egress = new Egress({ hosts: [], special: null });
  const guarded = new McpAdapter(() => null, 100_000, new Pools(egress));
  const verdict = await call({ transport: 'http', url: 'http://127.0.0.1:1/mcp', headers: {} }, { by: guarded });
  expect(verdict).toMatchObject({ kind: 'not_executed', cause: 'egress_refused', transient: false, sent: false });
  await guarded.close();
});

test.each([
  [
    'HTTP',
    new McpHttp('http://127.0.0.1:1/mcp', {}, { pools: new Pools(), connectMs: 1, maxBytes: 1, find: () => undefined }),
  ],
  ['stdio', new McpProcess({ command: ['cat'], env: {}, cwd: '.', maxBytes: 1_000, find: () => undefined })],
])('over %s, a call that nobody has asked for is not sent: the client would repeat one', async (_, transport) => {
  await transport.start();
  const again = transport.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'act' } });
  await expect(again).rejects.toThrow('not to be sent again');
  await transport.close();
});

test('a server that lets nobody in is reported to the credential, and nothing is sent', async () => {
  let refused = 0;
  const server = createServer((_, response) => response.writeHead(401).end());
  const url = await listening(server);
  const credential = bearer('expired', () => refused++);
  expect(await call({ transport: 'http', url, headers: {} }, { credential })).toMatchObject({
    kind: 'not_executed',
    cause: 'http_401',
    sent: false,
  });
  expect(refused).toBe(1);
  await stopped(server);
});

describe('a server of revision 2026-07-28 only, which knows no handshake', () => {
  let server: HttpServer;
  let url: string;
  const seen: object[] = [];

  beforeEach(async () => {
    seen.length = 0;
    const handler = createMcpHandler(
      () => {
        const each = new Server({ name: 'modern', version: '1' }, { capabilities: { tools: {} } });
        each.setRequestHandler('tools/call', ({ params }, { mcpReq, http }) => {
          seen.push({ meta: mcpReq._meta, attempt: http?.req?.headers.get('x-attempt-id') });
          if (params.name === 'ask') return inputRequired({ requestState: 'later' });
          return { content: [], structuredContent: { id: 'r-1' } };
        });
        return each;
      },
      { legacy: 'reject' },
    );
    server = createServer(toNodeHandler(handler));
    url = await listening(server);
  });
  afterEach(async () => {
    await adapter.close();
    await stopped(server);
  });

  test('is called as well, once', async () => {
    expect(await call({ transport: 'http', url, headers: {} })).toEqual({ kind: 'executed', data: { id: 'r-1' } });
    expect(seen).toMatchObject([{ meta: { 'intendant/key': 'k' }, attempt: `a-${calls}` }]);
  });

  test('is called as well over stdio', async () => {
    const program = `
      import { Server } from '@modelcontextprotocol/server';
      import { serveStdio } from '@modelcontextprotocol/server/stdio';
      serveStdio(() => {
        const server = new Server({ name: 'modern', version: '1' }, { capabilities: { tools: {} } });
        server.setRequestHandler('tools/call', (_, { mcpReq }) => ({ content: [], structuredContent: mcpReq._meta }));
        return server;
      }, { legacy: 'reject' });`;
    const command = [process.execPath, '--input-type=module', '-e', program];
    // Where its imports are found.
    const file = join(process.cwd(), 'act.tool.yaml');
    expect(await call({ transport: 'stdio', command, env: {} }, { file })).toMatchObject({
      kind: 'executed',
      data: { 'intendant/key': 'k', 'intendant/attemptId': `a-${calls}` },
    });
  });

  test('gets no second call when it wants to be told more', async () => {
    const verdict = await call({ transport: 'http', url, headers: {} }, { changes: { tool: 'ask' } });
    expect(verdict).toMatchObject({ kind: 'unknown', cause: 'mcp_input_required' });
    // Until then the client may have sent more.
    await adapter.close();
    expect(seen).toHaveLength(1);
  });
});

describe('a server on stdio', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mcp-'));
  });
  afterEach(async () => {
    await adapter.close();
    await rm(folder, { recursive: true });
  });

  /** A server in a few lines: enough to misbehave, which no SDK lets one do. It offers no list of tools. */
  const scripted = (onCall: string, before = ''): McpUpstream['server'] => ({
    transport: 'stdio',
    command: [
      process.execPath,
      '-e',
      `
      const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
      const result = (id, data) => say({ id, result: { content: [], structuredContent: data } });
      require('fs').appendFileSync('${folder}/pids', process.pid + '\\n');
      ${before}
      require('readline').createInterface(process.stdin).on('line', (line) => {
        const { id, method, params } = JSON.parse(line);
        require('fs').appendFileSync('${folder}/lines', method + '\\n');
        if (method === 'initialize') say({ id, result: { protocolVersion: '2025-11-25',
          capabilities: {}, serverInfo: { name: 's', version: '1' } } });
        if (method === 'tools/call') { ${onCall} }
      });`,
    ],
    env: { DECLARED: 'yes' },
  });
  const lines = async (name: string) => (await readFile(join(folder, name), 'utf8')).trim().split('\n');
  const alive = (pid: number) => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };

  test('gets PATH, language and what is declared of the environment, and the credential', async () => {
    process.env['OF_THE_SERVICE'] = 'secret';
    const verdict = await call(scripted('result(id, process.env)'), { credential: bearer('s3cret') });
    delete process.env['OF_THE_SERVICE'];
    const names = Object.keys((verdict as { data: object }).data);
    expect(names).toEqual(expect.arrayContaining(['DECLARED', 'INTENDANT_CREDENTIAL', 'PATH']));
    // Of macOS and of the C library.
    const extra = names.filter(
      (name) => !['DECLARED', 'INTENDANT_CREDENTIAL', 'PATH', 'LANG', 'LC_ALL'].includes(name),
    );
    expect(extra.filter((name) => !name.startsWith('__'))).toEqual([]);
  });

  test('runs in the folder of the tool file', async () => {
    const verdict = await call(scripted('result(id, process.cwd())'), { file: join(folder, 'act.tool.yaml') });
    expect(verdict).toMatchObject({ kind: 'executed', data: expect.stringContaining(folder) });
  });

  test('is started once for many calls, and ended with all that it started', async () => {
    const child = `const { pid } = require('child_process').spawn('sleep', ['600'], { stdio: 'inherit' });
      require('fs').appendFileSync('${folder}/pids', pid + '\\n');`;
    const server = scripted('result(id, { id })', child);
    await Promise.all([call(server), call(server)]);
    await call(server);
    const pids = (await lines('pids')).map(Number);
    expect(pids).toHaveLength(2);
    expect(pids.map(alive)).toEqual([true, true]);
    await adapter.close();
    await until(() => !pids.some(alive), 'server and child are gone');
  });

  test('that does not listen to signals is killed', async () => {
    await call(scripted('result(id, { id })', `process.on('SIGTERM', () => {}); setInterval(() => {}, 1000);`));
    const [pid] = (await lines('pids')).map(Number);
    await adapter.close();
    expect(alive(pid ?? 0)).toBe(false);
  });

  test('that dies in a call makes it unknown, says why, and is started again for the next', async () => {
    const server = scripted(`if (!params.arguments.again) { console.error('out of memory'); process.exit(3); }`);
    expect(await call(server)).toMatchObject({
      kind: 'unknown',
      cause: 'server_exited',
      detail: expect.stringMatching(/status 3.*out of memory/s),
    });
    expect(await call(server)).toMatchObject({ kind: 'unknown', cause: 'server_exited' });
    expect(await lines('pids')).toHaveLength(2);
    expect((await lines('lines')).filter((line) => line === 'tools/call')).toHaveLength(2);
  });

  test('that died between two calls is started again', async () => {
    const server = scripted('result(id, { id })');
    await call(server);
    const [pid] = (await lines('pids')).map(Number);
    process.kill(pid ?? 0, 'SIGKILL');
    await until(() => !alive(pid ?? 0), 'the server is gone');
    const verdict = await call(server);
    // Whether its end was known by then is a matter of luck; a call that may have left is never called unsent.
    if (verdict.kind !== 'executed') expect(verdict).toMatchObject({ kind: 'unknown', cause: 'server_exited' });
    expect(await call(server)).toMatchObject({ kind: 'executed' });
  });

  test('that ends instead of shaking hands was sent nothing, and its last words are told', async () => {
    expect(await call(scripted('', `console.error('no licence'); process.exit(1);`))).toMatchObject({
      kind: 'not_executed',
      cause: 'server_exited',
      transient: true,
      sent: false,
      detail: expect.stringContaining('no licence'),
    });
  });

  test('that says nothing to the handshake was sent nothing, and is ended', async () => {
    const silent: McpUpstream['server'] = { transport: 'stdio', command: ['sleep', '600'], env: {} };
    expect(await call(silent, { limits: { connectMs: 200 } })).toMatchObject({
      kind: 'not_executed',
      cause: 'connect_timeout',
      sent: false,
    });
  });

  test('whose program is not there was sent nothing, and may be there later', async () => {
    expect(await call({ transport: 'stdio', command: ['/nowhere'], env: {} })).toMatchObject({
      kind: 'not_executed',
      cause: 'adapter_missing',
      transient: true,
      sent: false,
    });
  });

  test('that asks back on a call is told each time that nobody answers such questions', async () => {
    const server = scripted(
      `globalThis.call = id; ['sampling/createMessage', 'elicitation/create', 'roots/list'].forEach(
        (method, n) => say({ id: 'q-' + n, method, params: { messages: [], maxTokens: 1, message: '', requestedSchema: {} } }));`,
      `const told = []; require('readline').createInterface(process.stdin).on('line', (line) => {
        const { id, error } = JSON.parse(line);
        if (error) told.push([id, error.code]);
        if (error && told.length === 3) result(globalThis.call, { told });
      });`,
    );
    expect(await call(server)).toEqual({
      kind: 'executed',
      data: { told: ['q-0', 'q-1', 'q-2'].map((id) => [id, -32_601]) },
    });
  });

  test('may write other things between its messages', async () => {
    expect(await call(scripted(`console.log('debug'); console.log('{}'); result(id, { id: 'r-1' });`))).toEqual({
      kind: 'executed',
      data: { id: 'r-1' },
    });
  });

  test.each(['call_timeout', 'aborted'])(
    'that does not read is gone before the verdict %s on a call that it has not got whole',
    async (cause) => {
      // What is written stays in the pipe from here on, which holds 64 KiB.
      const server = scripted(
        'result(id, { id })',
        `setInterval(() => {}, 1000); process.stdin.on('data', (text) => String(text).includes('notifications/initialized')
          && !require('fs').existsSync('${folder}/reads') && process.stdin.pause());`,
      );
      const given = new AbortController();
      const args = { text: 'x'.repeat(1_000_000) };
      const limits = cause === 'aborted' ? {} : { callMs: 1_500 };
      const pending = call(server, { args, limits, signal: given.signal });
      await until(() => existsSync(join(folder, 'lines')), 'the server runs');
      if (cause === 'aborted') {
        const said = () => readFileSync(join(folder, 'lines'), 'utf8');
        await until(() => said().includes('notifications/initialized'), 'the call is under way');
        given.abort();
      }
      expect(await pending).toMatchObject({ kind: 'unknown', cause });
      const [pid] = (await lines('pids')).map(Number);
      expect(alive(pid ?? 0)).toBe(false);
      expect(await lines('lines')).not.toContain('tools/call');
      await writeFile(join(folder, 'reads'), '');
      expect(await call(server, { args })).toMatchObject({ kind: 'executed' });
    },
  );

  test('hears that a call took too long; others over the same pipe go on', async () => {
    const server = scripted(`if (params._meta['intendant/attemptId'] !== 'a-${calls + 1}') result(id, { id: 'r-2' });`);
    const slow = call(server, { limits: { callMs: 1_500 } });
    expect(await call(server)).toEqual({ kind: 'executed', data: { id: 'r-2' } });
    expect(await slow).toMatchObject({ kind: 'unknown', cause: 'call_timeout' });
    await adapter.close();
    expect((await lines('lines')).filter((line) => line === 'notifications/cancelled')).toHaveLength(1);
  });
});

async function listening(server: HttpServer): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

async function stopped(server: HttpServer): Promise<void> {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
}
