import Fastify from 'fastify';
import pg from 'pg';
import { Pool } from 'undici';
import { type FromServer, report } from './ipc.js';
import { settledText } from './load-job.js';

/**
 * The yardstick: what one writes in an afternoon. One HTTP request is one row, inserted as pending, one call to the
 * upstream, and one update, with a connection pool: two commits per call, no bus, no recovery.
 */
const [databaseUrl, upstreamUrl] = process.argv.slice(2) as [string, string];

interface Submit {
  readonly id: string;
  readonly tool: string;
  readonly args: object;
}

const database = new pg.Pool({ connectionString: databaseUrl, max: 20 });
const upstream = new Pool(upstreamUrl, { connections: 512, pipelining: 1 });
await database.query(`
  CREATE TABLE calls (
    id text PRIMARY KEY, tool text NOT NULL, args jsonb NOT NULL, status text NOT NULL DEFAULT 'pending', result jsonb,
    created_at timestamptz NOT NULL DEFAULT now(), updated_at timestamptz NOT NULL DEFAULT now())`);

async function execute({ id, tool, args }: Submit): Promise<unknown> {
  const body = JSON.stringify(args);
  const insert = 'INSERT INTO calls (id, tool, args) VALUES ($1, $2, $3)';
  await database.query({ name: 'insert', text: insert, values: [id, tool, body] });
  const headers = { 'content-type': 'application/json', 'idempotency-key': id };
  const answer = await upstream.request({ method: 'POST', path: '/effects', headers, body });
  const data = await answer.body.json();
  if (answer.statusCode !== 200) throw new Error(`the upstream answered ${answer.statusCode}`);
  const update = `UPDATE calls SET status = '${settledText}', result = $2, updated_at = now() WHERE id = $1`;
  await database.query({ name: 'update', text: update, values: [id, JSON.stringify(data)] });
  return data;
}

const server = Fastify({ logger: false });
server.post('/intents', async (request) => {
  const submit = request.body as Submit;
  return { id: submit.id, status: settledText, data: await execute(submit) };
});
process.once('disconnect', () => process.exit(0));
const url = await server.listen({ port: 0, host: '127.0.0.1' });
report<FromServer>({ kind: 'ready', port: Number(new URL(url).port) });
