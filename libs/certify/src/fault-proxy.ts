import { once } from 'node:events';
import net from 'node:net';
import tls from 'node:tls';
import type { Fault, SeenRequest, Struck } from './fault.js';
import { type ArmedFault, Link } from './link.js';

/** Stands between us and the upstream, counts wire requests, and goes wrong on order. */
export interface FaultProxy {
  /** Where it listens. */
  readonly origin: string;
  /** What happens to the next request of this attempt; resolves when it happened. */
  arm(attemptId: string, fault: Fault): Promise<Struck>;
  /** All requests that carried this attempt id. */
  seen(attemptId: string): readonly SeenRequest[];
  /** All requests that carried any attempt id. */
  all(): readonly SeenRequest[];
  close(): Promise<void>;
}

/**
 * Starts a proxy on the loopback interface. It takes plain HTTP/1.1 and speaks TLS to the upstream where `target` is
 * an https address, so that it sees every byte on both sides.
 */
export async function startFaultProxy(target: URL): Promise<FaultProxy> {
  const requests: SeenRequest[] = [];
  const armed = new Map<string, ArmedFault>();
  const links = new Set<Link>();
  const world = {
    host: target.host,
    connect: () => connect(target),
    begin: (attemptId: string) => {
      const seen = { attemptId, startedAt: performance.now(), passedAt: null, answeredAt: null, status: null };
      requests.push(seen);
      const fault = armed.get(attemptId) ?? null;
      armed.delete(attemptId);
      return { seen, fault };
    },
  };
  const listener = net.createServer((client) => {
    const link = new Link(client, world);
    links.add(link);
    client.on('close', () => links.delete(link));
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as net.AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    arm: (attemptId, fault) => new Promise((strike) => armed.set(attemptId, { fault, strike })),
    seen: (attemptId) => requests.filter((each) => each.attemptId === attemptId),
    all: () => requests,
    close: async () => {
      const closed = once(listener, 'close');
      listener.close();
      for (const link of links) link.reset();
      await closed;
    },
  };
}

function connect({ protocol, hostname, port }: URL): net.Socket {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (protocol === 'https:') {
    // A server name must not be an address (RFC 6066, 3).
    const name = net.isIP(host) === 0 ? { servername: host } : {};
    return tls.connect({ host, port: Number(port || 443), ALPNProtocols: ['http/1.1'], ...name });
  }
  return net.connect({ host, port: Number(port || 80), noDelay: true });
}
