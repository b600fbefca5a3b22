import { once } from 'node:events';
import { createServer, type IncomingMessage, type OutgoingHttpHeaders, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer, text } from 'node:stream/consumers';

export interface ConformanceProxy {
  readonly url: string;
  close(): Promise<void>;
}

/** Namespace of the tools that the official suite calls by names without one. */
export const namespace = 'conformance.';

/**
 * What a runtime does between its model and the gateway, for a client that cannot: adds the run token and a step id to
 * every call, and gives the tools of a namespace their short names.
 */
export async function startConformanceProxy(gateway: string, token: string): Promise<ConformanceProxy> {
  let steps = 0;
  const serve = async (incoming: IncomingMessage, response: ServerResponse) => {
    const headers: OutgoingHttpHeaders = { ...incoming.headers, authorization: `Bearer ${token}` };
    const name = headers['mcp-name'];
    if (headers['mcp-method'] === 'tools/call' && typeof name === 'string') headers['mcp-name'] = longName(name);
    const body = withStep(await buffer(incoming), () => `step-${++steps}`);
    if (headers['content-length'] !== undefined) headers['content-length'] = String(body.length);
    const sent = request(new URL(incoming.url ?? '/', gateway), { method: incoming.method, headers, agent: false });
    response.once('close', () => sent.destroy());
    sent.end(body);
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    response.writeHead(answer.statusCode ?? 502, withoutLength(answer.headers));
    if (body.includes('"tools/list"'))
      response.end((await text(answer)).replaceAll(`"name":"${namespace}`, '"name":"'));
    else answer.pipe(response);
  };
  const server = createServer((incoming, response) => {
    serve(incoming, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function longName(name: string): string {
  return name.includes('.') ? name : `${namespace}${name}`;
}

/** What is no call goes through as it is, however malformed. */
function withStep(body: Buffer, step: () => string): Buffer {
  if (!body.includes('"tools/call"')) return body;
  const message = JSON.parse(body.toString());
  const { name, _meta } = message.params ?? {};
  if (typeof name !== 'string') return body;
  const params = { ...message.params, name: longName(name), _meta: { ..._meta, 'intendant/stepId': step() } };
  return Buffer.from(JSON.stringify({ ...message, params }));
}

function withoutLength({ 'content-length': _, ...headers }: IncomingMessage['headers']) {
  return headers;
}
