import { Logger, makeWorkerUtils, run } from 'graphile-worker';
import pg from 'pg';
import { callUpstream, databaseUrl, serve } from './intents.mjs';
import { createResults, Waiting } from './waiting.mjs';

/** graphile-worker as its performance page sets it up: a local queue of 500, completions in batches, 24 jobs at a time. */
const waiting = new Waiting();
const pgPool = new pg.Pool({ connectionString: databaseUrl, max: 25 });
const complain = (error) => process.stderr.write(`graphile-worker: ${error.message}\n`);
pgPool.on('error', complain);
pgPool.on('connect', (client) => client.on('error', complain));
await pgPool.query(createResults);
const logger = new Logger(() => (level, message) => {
  if (level === 'error') process.stderr.write(`graphile-worker: ${message}\n`);
});
const utils = await makeWorkerUtils({ pgPool, logger });
await utils.migrate();
await run({
  pgPool,
  logger,
  noHandleSignals: true,
  concurrency: 24,
  preset: { worker: { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
  taskList: {
    execute: async (intent) => {
      const data = await callUpstream(intent);
      const text = 'INSERT INTO results (id, result) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING';
      await pgPool.query({ name: 'record', text, values: [intent.id, JSON.stringify(data)] });
      waiting.settle(intent.id, data);
    },
  },
});
await serve(async (intent) => {
  const result = waiting.for(intent.id);
  await utils.addJob('execute', intent, { jobKey: intent.id });
  return result;
});
