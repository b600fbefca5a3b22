import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { HttpUpstream } from '@intendant/contracts';
import type { JsonObject } from '@intendant/intent';
import {
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
import { behindPort } from './behind-port.spec-helper.js';
import { HttpAdapter } from './http-adapter.js';
import { Pools } from './pools.js';

describeConformance('http', async () => {
  const script = new ScriptedUpstream();
  const open = new Set<ServerResponse>();
  const server = createServer(async (request, response) => {
    open.add(response);
    response.on('close', () => open.delete(response));
    answer(response, await react(script, request));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const real = upstreamAt(`http://127.0.0.1:${port}/real`, 'conformance');
  return {
    adapter: behindPort(new HttpAdapter(needsReceipt, maxAnswerBytes, new Pools())),
    script,
    real,
    sandbox: upstreamAt(`http://127.0.0.1:${port}/sandbox`, 'conformance_sandbox'),
    // Port 1 (tcpmux) is nobody's.
    unreachable: { ...real, baseUrl: 'http://127.0.0.1:1' },
    timeoutMs: 300,
    atRest: () => until(() => open.size === 0, 'no request is open'),
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
});

function upstreamAt(baseUrl: string, credential: string): HttpUpstream {
  return {
    kind: 'http',
    name: 'scripted',
    concurrency: 8,
    outcomes: [],
    credential,
    baseUrl,
    method: 'POST',
    path: '/act',
    headers: {},
    body: '$args',
    http2: false,
    statuses: {},
    lookup: { method: 'GET', path: '/lookup?key={{key}}', headers: {}, absentStatuses: [], ...lookupReading },
    poll: { method: 'GET', path: '/poll?key={{key}}&operation={{accepted.operation}}', headers: {}, ...pollReading },
  };
}

async function react(script: ScriptedUpstream, request: IncomingMessage): Promise<Reaction> {
  const { headers, url = '/' } = request;
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  const body = await text(request);
  const seen = {
    key: searchParams.get('key') ?? String(headers['idempotency-key']),
    args: body === '' ? {} : (JSON.parse(body) as JsonObject),
    sandbox: pathname.startsWith('/sandbox/'),
    credential: headers.authorization?.replace('Bearer ', '') ?? null,
  };
  if (pathname.endsWith('/lookup')) return script.lookup(seen);
  if (pathname.endsWith('/poll')) return script.poll(seen, { operation: searchParams.get('operation') });
  return script.call({ ...seen, attemptId: String(headers['x-attempt-id']) });
}

function answer(response: ServerResponse, reaction: Reaction): void {
  switch (reaction.kind) {
    case 'answer':
      response.writeHead(200).end(JSON.stringify(reaction.data));
      break;
    case 'accept':
      response.writeHead(202).end(JSON.stringify(reaction.data));
      break;
    case 'refuse':
      response.writeHead(400).end('no');
      break;
    case 'error':
      response.writeHead(500).end('broken');
      break;
    case 'garbage':
      response.writeHead(200).end('<html>');
      break;
    case 'too_large':
      response.writeHead(200).end(JSON.stringify({ id: tooLarge }));
      break;
    case 'die':
      response.destroy();
      break;
    case 'hang':
      break;
  }
}
