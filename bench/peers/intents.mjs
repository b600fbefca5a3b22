import Fastify from 'fastify';
import { Pool } from 'undici';

/** @typedef {{ id: string, tool: string, args: object }} Intent */

/** The database of this measurement, the upstream, and for Restate the port of its service. */
export const [databaseUrl, upstreamUrl] = process.argv.slice(2);

const upstream = new Pool(upstreamUrl, { connections: 512, pipelining: 1 });

/**
 * The one call that every peer makes per intent, in the same way as the afternoon version.
 * @param {Intent} intent
 */
export async function callUpstream({ id, args }) {
  const headers = { 'content-type': 'application/json', 'idempotency-key': id };
  const answer = await upstream.request({ method: 'POST', path: '/effects', headers, body: JSON.stringify(args) });
  const data = await answer.body.json();
  if (answer.statusCode !== 200) throw new Error(`the upstream answered ${answer.statusCode}`);
  return data;
}

/**
 * What the load generator takes for the settled result.
 * @param {string} id
 * @param {unknown} data
 */
export function committed(id, data) {
  return { id, status: 'committed', data };
}

/**
 * Answers `POST /intents` with the result of `execute`, which has recorded it by then.
 * @param {(intent: Intent) => Promise<unknown>} execute
 */
export async function serve(execute) {
  const server = Fastify({ logger: false });
  server.post('/intents', async (request) => {
    const intent = /** @type {Intent} */ (request.body);
    return committed(intent.id, await execute(intent));
  });
  ready(Number(new URL(await server.listen({ port: 0, host: '127.0.0.1' })).port));
}

/**
 * Tells the benchmark where to send the load, and ends with it.
 * @param {number} port
 */
export function ready(port) {
  process.once('disconnect', () => process.exit(0));
  process.send?.({ kind: 'ready', port });
}
