import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface Passed {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly body: string;
}

export interface Reply {
  readonly status: number;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Meddler {
  readonly url: string;
  /** What came, in order. */
  readonly seen: readonly Passed[];
  close(): Promise<void>;
}

/**
 * Somebody between a client and a server, who answers as he likes: `meddle` is told which request it is, from 1 on, and
 * may `pass` it on to `target`, as often as it likes and whatever it tells the client.
 */
export async function startMeddler(
  target: string,
  meddle: (request: Passed & { readonly n: number }, pass: () => Promise<Required<Reply>>) => Promise<Reply> | Reply,
  port = 0,
): Promise<Meddler> {
  const seen: Passed[] = [];
  const server = createServer(async (incoming, response) => {
    const request = { method: incoming.method ?? 'GET', url: incoming.url ?? '/', body: await text(incoming) };
    const n = seen.push(request);
    const {
      status,
      body = '',
      headers = {},
    } = await meddle({ ...request, n }, () => passOn(target, incoming, request));
    response.writeHead(status, headers).end(body);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function passOn(target: string, incoming: IncomingMessage, request: Passed): Promise<Required<Reply>> {
  const { method, url, body } = request;
  const headers = new Headers();
  for (const name of ['authorization', 'content-type', 'prefer', 'accept', 'last-event-id']) {
    const value = incoming.headers[name];
    if (typeof value === 'string') headers.set(name, value);
  }
  const answer = await fetch(target + url, { method, headers, ...(body && { body }) });
  const type = answer.headers.get('content-type') ?? '';
  return { status: answer.status, body: await answer.text(), headers: { 'content-type': type } };
}
