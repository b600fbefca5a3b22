import net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

const pollMs = 50;

/**
 * Asks `probe` until it answers with something truthy and returns that. Throws at the deadline, or as soon as the
 * process that should become ready has ended.
 */
export async function until(probe, { boundMs, child, what }) {
  const deadline = performance.now() + boundMs;
  for (;;) {
    const answer = await probe();
    if (answer) return answer;
    if (child?.ended) throw new Error(`${what} ended with ${child.ended} before it was ready`);
    if (performance.now() > deadline) throw new Error(`${what} was not ready after ${Math.round(boundMs / 1000)} s`);
    await delay(pollMs);
  }
}

/** Whether an HTTP GET answers 200 within two seconds. */
export async function answersOk(url) {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2_000) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}

/** A loopback port that is free now; another process may take it before it is used, so starters retry. */
export function freePort() {
  return listenOnce(0);
}

/** Whether this loopback port can be bound. */
export async function isFree(port) {
  return (await listenOnce(port).catch(() => undefined)) !== undefined;
}

function listenOnce(port) {
  return new Promise((resolve, reject) => {
    const server = net.createServer();
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(address.port));
    });
  });
}
