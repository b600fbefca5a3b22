import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A proxy between the services and an upstream, of the kind that means well. */
export interface FrontProxy {
  readonly url: string;
  /** Where requests go; they are answered 502 until it is set. */
  target: string | null;
  close(): Promise<void>;
}

/**
 * Repeats a request that was answered 503, as meshes do. Under `/effects/duplicate`, tells a repeat by the words of
 * vendors that do not give the first answer again: 409 with the code `duplicate` and what there is already.
 */
export async function startFrontProxy(): Promise<FrontProxy> {
  const proxy = { target: null as string | null };
  const serve = async (incoming: IncomingMessage, response: ServerResponse) => {
    if (proxy.target === null) return response.writeHead(502).end();
    const body = await buffer(incoming);
    let answer = await forward(proxy.target, incoming, body);
    if (answer.status === 503) answer = await forward(proxy.target, incoming, body);
    const replayed = answer.headers['idempotent-replayed'] !== undefined;
    if (replayed && incoming.url === '/effects/duplicate') {
      const told = { error: { code: 'duplicate' }, original: JSON.parse(answer.body.toString()) };
      return response.writeHead(409, { 'content-type': 'application/json' }).end(JSON.stringify(told));
    }
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body);
  };
  // An upstream that hangs up is told by hanging up.
  const server = createServer((incoming, response) => {
    serve(incoming, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return Object.assign(proxy, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  });
}

async function forward(target: string, { method, url, headers }: IncomingMessage, body: Buffer) {
  const sent = request(new URL(url ?? '/', target), { method, headers, agent: false });
  sent.end(body);
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: answer.statusCode ?? 502, headers: answer.headers, body: await buffer(answer) };
}
