import { startUpstream } from './server.js';

/**
 * The demo upstream as a process. `DEMO_UPSTREAM_HOST`: default 127.0.0.1; `DEMO_UPSTREAM_PORT`: default 0, a free one;
 * `DEMO_LEDGER`: file for the ledger.
 * Says where it listens in one JSON line on standard output; SIGTERM and SIGINT end it.
 */
async function main(): Promise<void> {
  const port = Number(process.env.DEMO_UPSTREAM_PORT || 0);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new Error(`DEMO_UPSTREAM_PORT must be a port number, not ${process.env.DEMO_UPSTREAM_PORT}`);
  }
  const { DEMO_LEDGER: ledgerFile, DEMO_UPSTREAM_HOST: host } = process.env;
  const upstream = await startUpstream({ port, ...(host && { host }), ...(ledgerFile && { ledgerFile }) });
  const stop = () => void upstream.close();
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  process.stdout.write(`${JSON.stringify({ listening: upstream.url })}\n`);
}

main().catch((error: unknown) => {
  process.stderr.write(`The demo upstream did not start: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
