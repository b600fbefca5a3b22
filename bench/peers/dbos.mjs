import { DBOS } from '@dbos-inc/dbos-sdk';
import { callUpstream, databaseUrl, serve } from './intents.mjs';

/**
 * DBOS: one workflow of one step, started where the request arrives. Its queues would add a poll to every intent.
 * The workflow id is the intent's, so a repeated request finds the first one's result.
 */
const execute = DBOS.registerWorkflow((intent) => DBOS.runStep(() => callUpstream(intent), { name: 'call' }), {
  name: 'execute',
});

// It uses its connections in a way that the PostgreSQL client announces the end of.
process.noDeprecation = true;
DBOS.setConfig({
  name: 'bench',
  applicationVersion: '1',
  systemDatabaseUrl: databaseUrl,
  systemDatabasePoolSize: 20,
  logLevel: 'error',
});
await DBOS.launch();
await serve(async (intent) => {
  const handle = await DBOS.startWorkflow(execute, { workflowID: intent.id })(intent);
  return handle.getResult();
});
