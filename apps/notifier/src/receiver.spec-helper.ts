import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Delivery {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

type Behaviour = (response: ServerResponse, delivery: Delivery) => void;

/** Answers at once with this status. */
export const status =
  (code: number, headers: Record<string, string> = {}): Behaviour =>
  (response) =>
    response.writeHead(code, headers).end();

export const hang: Behaviour = () => undefined;

/** A destination with a socket of its own. Behaves as the first of `next` says and takes that away; 204 once it is empty. */
export async function startReceiver(port = 0) {
  const deliveries: Delivery[] = [];
  const next: Behaviour[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      const delivery = { path: request.url ?? '', headers: request.headers, body };
      deliveries.push(delivery);
      (next.shift() ?? status(204))(response, delivery);
    });
  }).listen(port, '127.0.0.1');
  await once(server, 'listening');
  const ids = () => deliveries.map(({ headers }) => headers['webhook-id']);
  const close = async () => {
    if (!server.listening) return;
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, deliveries, next, ids, close };
}
export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

/** What a receiver does, written from the specification alone: any of the signatures, and a recent time. */
export function isGenuine({ headers, body }: Delivery, secret: string, nowMs = Date.now()): boolean {
  const timestamp = Number(headers['webhook-timestamp']);
  if (!(Math.abs(nowMs / 1_000 - timestamp) < 300)) return false;
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const expected = createHmac('sha256', key).update(`${headers['webhook-id']}.${timestamp}.${body}`).digest();
  return String(headers['webhook-signature'])
    .split(' ')
    .map((each) => each.split(','))
    .some(([version, signature = '']) => {
      const given = Buffer.from(signature, 'base64');
      return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected);
    });
}
