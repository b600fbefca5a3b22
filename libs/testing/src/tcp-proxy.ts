import { once } from 'node:events';
import net from 'node:net';

/** Where a connection is broken, seen from the moment `cutOnce` was called or `after` was sent. */
export interface Cut {
  /** Text in what the client sends that starts the count; left out, it starts at once, also on open connections. */
  readonly after?: string;
  readonly direction: 'to_client' | 'to_server';
  /** Bytes that still pass in that direction; the rest of the chunk is swallowed with the connection. */
  readonly bytes: number;
}

/** A TCP relay on the loopback interface that breaks connections on order. */
export interface TcpProxy {
  readonly port: number;
  /** `target`, a URL, with host and port of this proxy. */
  through(target: string): string;
  /** Breaks the next connection that fits, once, with a reset to both sides; resolves when that happened. */
  cutOnce(cut: Cut): Promise<void>;
  /** Swallows everything in both directions from now on; connections stay open and new ones are taken. */
  dropEverything(): void;
  /** New connections work again; those that lost bytes are reset, since nothing good can come of them. */
  heal(): void;
  /** Resets every open connection and, until `heal`, each new one. */
  partition(): void;
  close(): Promise<void>;
}

interface Link {
  readonly client: net.Socket;
  readonly server: net.Socket;
  /** What the client sent last, as far as it may be the beginning of the text that is waited for. */
  tail: string;
  /** Bytes left until the cut; null as long as it has not begun here. */
  left: number | null;
}

/** Starts a proxy in front of a server on this machine. */
export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  const links = new Set<Link>();
  let cut: (Cut & { done: () => void }) | null = null;
  let state: 'open' | 'dropping' | 'partitioned' = 'open';

  const reset = (link: Link) => {
    links.delete(link);
    link.client.resetAndDestroy();
    link.server.resetAndDestroy();
  };
  const pass = (link: Link, direction: Cut['direction'], chunk: Buffer) => {
    const to = direction === 'to_client' ? link.client : link.server;
    if (state !== 'open') return;
    if (cut && direction === 'to_server' && cut.after !== undefined && link.left === null) {
      const text = link.tail + chunk.toString('latin1');
      if (text.includes(cut.after)) link.left = cut.bytes;
      link.tail = text.slice(-cut.after.length + 1);
    } else if (cut && cut.direction === direction && link.left !== null) {
      if (chunk.length > link.left) {
        const { done } = cut;
        cut = null;
        if (link.left > 0) to.write(chunk.subarray(0, link.left));
        reset(link);
        return done();
      }
      link.left -= chunk.length;
    }
    to.write(chunk);
  };

  const listener = net.createServer((client) => {
    const server = net.connect(targetPort, '127.0.0.1');
    const link: Link = { client, server, tail: '', left: cut && cut.after === undefined ? cut.bytes : null };
    links.add(link);
    client.on('data', (chunk) => pass(link, 'to_server', chunk));
    server.on('data', (chunk) => pass(link, 'to_client', chunk));
    for (const [one, other] of [[client, server] as const, [server, client] as const]) {
      one.setNoDelay(true);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        links.delete(link);
        other.end();
      });
    }
    if (state === 'partitioned') reset(link);
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as net.AddressInfo;

  return {
    port,
    through: (target) => {
      const url = new URL(target);
      url.hostname = '127.0.0.1';
      url.port = String(port);
      return url.href;
    },
    cutOnce: (order) =>
      new Promise((done) => {
        cut = { ...order, done };
        for (const link of links) link.left = order.after === undefined ? order.bytes : null;
      }),
    dropEverything: () => {
      state = 'dropping';
    },
    heal: () => {
      if (state === 'dropping') for (const link of links) reset(link);
      state = 'open';
    },
    partition: () => {
      state = 'partitioned';
      for (const link of links) reset(link);
    },
    close: async () => {
      const closed = once(listener, 'close');
      listener.close();
      for (const link of links) reset(link);
      await closed;
    },
  };
}
