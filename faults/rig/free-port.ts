import { randomInt } from 'node:crypto';
import net from 'node:net';

/**
 * A loopback port that nobody listens on. It is below those that outgoing connections are given (from 32768 on Linux):
 * one of these would take it while the server that owns it is down, and keep it from starting again.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(15_000, 32_000);
    if (await canListen(port)) return port;
  }
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = net.createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
