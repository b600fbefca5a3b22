import { once } from 'node:events';
import net from 'node:net';
import { Delivery } from './delivery.js';

export type Direction = 'to_client' | 'to_server';

/** Where a connection is broken, seen from the moment `cutOnce` was called or `after` was sent. */
export interface Cut {
  /** Text in what the client sends that starts the count; left out, it starts at once, also on open connections. */
  readonly after?: string;
  readonly direction: Direction;
  /** Bytes that still pass in that direction; the rest of the chunk is swallowed with the connection. */
  readonly bytes: number;
}

/** A TCP relay on the loopback interface that breaks connections on order. */
export interface TcpProxy {
  readonly port: number;
  /** `target`, a URL, with host and port of this proxy. */
  through(target: string): string;
  /**
   * Breaks the next connection that fits, once, with a reset to both sides; resolves with true when that happened, and
   * with false when `signal` withdrew the order before.
   */
  cutOnce(cut: Cut, signal?: AbortSignal): Promise<boolean>;
  /** Everything arrives that much later from now on, in ms; 0 ends it. */
  delay(ms: number): void;
  /** Everything is written in pieces of that many bytes, each in a turn of its own; 0 ends it. */
  slice(bytes: number): void;
  /**
   * Swallows what goes that way from now on, ends too; connections stay open and new ones are taken. Null ends it, and
   * resets all connections: they may have lost bytes, and nothing good can come of them.
   */
  swallow(direction: Direction | 'both' | null): void;
  /** Resets every open connection and, until `heal`, each new one. */
  partition(): void;
  /** Ends all of that, but not the cuts. */
  heal(): void;
  close(): Promise<void>;
}

interface Order extends Cut {
  readonly end: (happened: boolean) => void;
}

/** How far an order has come on one connection. */
interface Count {
  /** What the client sent last, as far as it may be the beginning of the text that is waited for. */
  tail: string;
  /** Bytes left until the cut; null as long as the count has not begun here. */
  left: number | null;
}

interface Link {
  readonly client: net.Socket;
  readonly server: net.Socket;
  readonly delivery: Readonly<Record<Direction, Delivery>>;
  readonly counts: Map<Order, Count>;
}

/** A connection that is just being ended cannot be reset (EINVAL): Node would then never close it, and the process not end. */
function cutOff(socket: net.Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}

/** Starts a proxy in front of a server on this machine. */
export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  const links = new Set<Link>();
  const orders = new Set<Order>();
  const pace = { delayMs: 0, sliceBytes: 0 };
  let swallowed: Direction | 'both' | null = null;
  let partitioned = false;

  const reset = (link: Link) => {
    links.delete(link);
    for (const each of Object.values(link.delivery)) each.drop();
    cutOff(link.client);
    cutOff(link.server);
  };
  const swallow = (direction: Direction | 'both' | null) => {
    if (swallowed !== null && direction === null) for (const link of links) reset(link);
    swallowed = direction;
  };
  const swallows = (direction: Direction) => swallowed === 'both' || swallowed === direction;
  const pass = (link: Link, direction: Direction, chunk: Buffer) => {
    if (swallows(direction)) return;
    for (const order of orders) {
      const passing = passingBytes(order, countOf(link, order), direction, chunk);
      if (passing === null) continue;
      orders.delete(order);
      if (passing > 0) link.delivery[direction].hurry(chunk.subarray(0, passing));
      reset(link);
      order.end(true);
      return;
    }
    link.delivery[direction].add(chunk);
  };

  const listener = net.createServer((client) => {
    const server = net.connect(targetPort, '127.0.0.1');
    const delivery = { to_client: new Delivery(client, pace), to_server: new Delivery(server, pace) };
    const link: Link = { client, server, delivery, counts: new Map() };
    links.add(link);
    client.on('data', (chunk) => pass(link, 'to_server', chunk));
    server.on('data', (chunk) => pass(link, 'to_client', chunk));
    for (const [one, direction] of [[client, 'to_server'] as const, [server, 'to_client'] as const]) {
      one.setNoDelay(true);
      // The other side hears of it below.
      one.on('error', () => undefined);
      one.on('close', (failed) => {
        if (client.closed && server.closed) links.delete(link);
        if (swallows(direction)) return;
        if (failed) reset(link);
        else link.delivery[direction].end();
      });
    }
    if (partitioned) reset(link);
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
    cutOnce: (cut, signal) =>
      new Promise((resolve) => {
        const withdraw = () => order.end(false);
        const order: Order = {
          ...cut,
          end: (happened) => {
            orders.delete(order);
            signal?.removeEventListener('abort', withdraw);
            resolve(happened);
          },
        };
        orders.add(order);
        signal?.addEventListener('abort', withdraw);
        if (signal?.aborted) withdraw();
      }),
    delay: (ms) => {
      pace.delayMs = ms;
    },
    slice: (bytes) => {
      pace.sliceBytes = bytes;
    },
    swallow,
    heal: () => {
      swallow(null);
      partitioned = false;
      pace.delayMs = 0;
      pace.sliceBytes = 0;
    },
    partition: () => {
      partitioned = true;
      for (const link of links) reset(link);
    },
    close: async () => {
      const closed = once(listener, 'close');
      listener.close();
      for (const link of links) reset(link);
      for (const order of orders) order.end(false);
      await closed;
    },
  };
}

function countOf({ counts }: Link, order: Order): Count {
  const known = counts.get(order);
  if (known) return known;
  const count = { tail: '', left: order.after === undefined ? order.bytes : null };
  counts.set(order, count);
  return count;
}

/** How many bytes of the chunk still pass before the cut; null when the whole of it does. */
function passingBytes(order: Order, count: Count, direction: Direction, chunk: Buffer): number | null {
  let from = 0;
  if (count.left === null) {
    if (direction !== 'to_server' || order.after === undefined) return null;
    const text = count.tail + chunk.toString('latin1');
    const at = text.indexOf(order.after);
    if (at < 0) {
      count.tail = text.slice(-order.after.length + 1);
      return null;
    }
    count.left = order.bytes;
    from = at + order.after.length - count.tail.length;
  }
  if (direction !== order.direction) return null;
  const counted = chunk.length - from;
  if (counted > count.left) return from + count.left;
  count.left -= counted;
  return null;
}
