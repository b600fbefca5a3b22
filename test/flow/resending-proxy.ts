import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export interface ResendingProxy {
  readonly url: string;
  close(): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** An HTTP proxy that helps nobody: what is answered with 5xx it sends once more, and tells the second answer only. */
export async function startResendingProxy(target: () => string): Promise<ResendingProxy> {
  const server = createServer((incoming, response) => {
    relay(incoming, response, target()).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function relay(incoming: IncomingMessage, response: ServerResponse, target: string): Promise<void> {
  const body = await buffer(incoming);
  let answer = await send(incoming, body, target);
  if (answer.status >= 500) answer = await send(incoming, body, target);
  response.writeHead(answer.status, answer.headers).end(answer.body);
}

async function send({ method, url, headers }: IncomingMessage, body: Buffer, target: string): Promise<Answer> {
  const outgoing = request(new URL(url ?? '/', target), { ...(method && { method }), headers, agent: false });
  outgoing.end(body);
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  return { status: answer.statusCode ?? 502, headers: answer.headers, body: await buffer(answer) };
}
