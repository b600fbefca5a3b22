import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { McpUpstream } from '@intendant/contracts';
import type { Json, JsonObject } from '@intendant/intent';
import {
  type ConformanceHarness,
  describeConformance,
  lookupReading,
  maxAnswerBytes,
  needsReceipt,
  pollReading,
  type Reaction,
  ScriptedUpstream,
  tooLarge,
  until,
} from '@intendant/testing';
import { type CallToolResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { describe } from 'vitest';
import { behindPort } from './behind-port.spec-helper.js';
import { McpAdapter } from './mcp-adapter.js';
import { McpServerOverHttp, type ServedCall } from './mcp-server.spec-helper.js';
import { Pools } from './pools.js';

describe.each([
  ['in JSON', { enableJsonResponse: true }],
  ['in event streams', { enableJsonResponse: false }],
])('%s', (how, options) => {
  describeConformance(`mcp over http, answering ${how}`, async () => {
    const script = new ScriptedUpstream();
    const server = await McpServerOverHttp.start(async (call) => perform(call, await react(script, call)), options);
    const at = (place: string, credential: string) =>
      upstreamAt({ transport: 'http', url: `${server.url}/${place}`, headers: {} }, credential);
    const real = at('real', 'conformance');
    return {
      adapter: behindPort(new McpAdapter(needsReceipt, maxAnswerBytes, new Pools())),
      script,
      real,
      sandbox: at('sandbox', 'conformance_sandbox'),
      // Port 1 (tcpmux) is nobody's.
      unreachable: { ...real, server: { transport: 'http', url: 'http://127.0.0.1:1/mcp', headers: {} } },
      timeoutMs: 500,
      atRest: () => until(() => server.open === 0, 'no request is open'),
      stop: () => server.stop(),
    };
  });
});

describeConformance('mcp over stdio', async (): Promise<ConformanceHarness> => {
  const script = new ScriptedUpstream();
  const open = new Set<ServerResponse>();
  // The servers are processes of their own, and ask here what to do.
  const control = createServer(async (request, response) => {
    open.add(response);
    response.on('close', () => open.delete(response));
    const reaction = await react(script, (await json(request)) as unknown as Asked);
    if (reaction.kind !== 'hang') response.end(JSON.stringify(reaction));
  });
  control.listen(0, '127.0.0.1');
  await once(control, 'listening');
  const { port } = control.address() as AddressInfo;
  const program = fileURLToPath(new URL('./mcp-stdio-server.spec-helper.mjs', import.meta.url));
  const at = (place: string, credential: string) =>
    upstreamAt(
      { transport: 'stdio', command: [process.execPath, program, `http://127.0.0.1:${port}/${place}`], env: {} },
      credential,
    );
  const real = at('real', 'conformance');
  return {
    adapter: behindPort(new McpAdapter(needsReceipt, maxAnswerBytes, new Pools())),
    script,
    real,
    sandbox: at('sandbox', 'conformance_sandbox'),
    unreachable: { ...real, server: { transport: 'stdio', command: ['/nowhere/at/all'], env: {} } },
    timeoutMs: 1_500,
    atRest: () => until(() => open.size === 0, 'no server asks what to do'),
    stop: async () => {
      control.closeAllConnections();
      control.close();
      await once(control, 'close');
    },
  };
});

function upstreamAt(server: McpUpstream['server'], credential: string): McpUpstream {
  return {
    kind: 'mcp',
    name: 'scripted',
    concurrency: 8,
    outcomes: [{ when: '$exists($data.operation)', means: 'accepted', receipt: null }],
    credential,
    server,
    tool: 'act',
    arguments: '$args',
    lookup: { tool: 'find', arguments: '{ "key": key }', ...lookupReading },
    poll: { tool: 'follow', arguments: '{ "key": key, "accepted": accepted }', ...pollReading },
  };
}

type Asked = Pick<ServedCall, 'name' | 'args' | 'meta' | 'headers' | 'path'>;

async function react(script: ScriptedUpstream, { name, args, meta, headers, path }: Asked): Promise<Reaction> {
  const seen = {
    key: String(meta['intendant/key'] ?? args['key']),
    args,
    sandbox: path.endsWith('/sandbox'),
    credential: headers.authorization?.replace('Bearer ', '') ?? null,
  };
  if (name === 'find') return script.lookup(seen);
  if (name === 'follow') return script.poll(seen, args['accepted'] as Json);
  return script.call({ ...seen, attemptId: String(meta['intendant/attemptId']) });
}

async function perform({ drop, signal }: ServedCall, reaction: Reaction): Promise<CallToolResult> {
  switch (reaction.kind) {
    case 'answer':
    case 'accept':
      return structured(reaction.data);
    case 'refuse':
      throw new ProtocolError(ProtocolErrorCode.InvalidRequest, 'no');
    case 'error':
      return { isError: true, content: [{ type: 'text', text: 'broken' }] };
    case 'garbage':
      return { content: [{ type: 'text', text: '<html>' }] };
    case 'too_large':
      return structured({ id: tooLarge });
    case 'die':
      drop();
      break;
    case 'hang':
      break;
  }
  if (!signal.aborted) await once(signal, 'abort');
  return { content: [] };
}

function structured(data: JsonObject): CallToolResult {
  return { content: [], structuredContent: data };
}
