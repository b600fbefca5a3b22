import { createHash } from 'node:crypto';
import pg from 'pg';
import PgBoss from 'pg-boss';
import { callUpstream, databaseUrl, serve } from './intents.mjs';
import { createResults, Waiting } from './waiting.mjs';

/**
 * pg-boss: workers that fetch batches, record a batch of results in one statement, and are woken by the request instead
 * of waiting for their next poll.
 */
const workers = 2;
const batchSize = 200;
const queue = 'execute';

const waiting = new Waiting();
const database = new pg.Pool({ connectionString: databaseUrl, max: 10 });
await database.query(createResults);
const boss = new PgBoss({ connectionString: databaseUrl, max: 20 });
boss.on('error', (error) => process.stderr.write(`pg-boss: ${error.message}\n`));
await boss.start();
await boss.createQueue(queue, { name: queue, policy: 'standard' });

const record = `
  INSERT INTO results (id, result) SELECT * FROM unnest($1::text[], $2::jsonb[]) ON CONFLICT (id) DO NOTHING`;
async function work(jobs) {
  const results = await Promise.all(jobs.map(async ({ data }) => ({ id: data.id, data: await callUpstream(data) })));
  const values = [results.map(({ id }) => id), results.map(({ data }) => JSON.stringify(data))];
  await database.query({ name: 'record', text: record, values });
  for (const { id, data } of results) waiting.settle(id, data);
}
const started = Array.from({ length: workers }, () =>
  boss.work(queue, { batchSize, pollingIntervalSeconds: 0.5 }, work),
);
const workerIds = await Promise.all(started);

/** Jobs are named by UUIDs; one made of the intent's id makes a repeated request the same job. */
function jobId(intentId) {
  const hex = createHash('md5').update(intentId).digest('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

let turn = 0;
await serve(async (intent) => {
  const result = waiting.for(intent.id);
  await boss.send(queue, intent, { id: jobId(intent.id) });
  turn = (turn + 1) % workers;
  boss.notifyWorker(workerIds[turn]);
  return result;
});
