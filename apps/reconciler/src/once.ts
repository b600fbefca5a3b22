import type { Logger } from '@intendant/runtime';
import { alarm } from '@intendant/service';
import { Store } from '@intendant/store';
import { loadTools } from '@intendant/tools';
import { misfits, openUpstreams } from '@intendant/upstream';
import { assemble } from './assemble.js';
import type { PassConfig } from './config.js';

/**
 * One pass of every sweeper without any other service, for cron: prints the counts as one JSON line.
 * @returns the exit status: 1 when something could not be dealt with
 */
export async function runOnce(config: PassConfig, logger: Logger): Promise<number> {
  const tools = await loadTools(config.toolsDir, process.env, (tool) => misfits(config.upstream, tool));
  const store = await Store.open({ url: config.databaseUrl, name: 'reconciler --once' }, { corrected: alarm(logger) });
  const upstream = openUpstreams(config.upstream, tools);
  try {
    const counts = await assemble(store, tools, upstream, logger).runOnce();
    process.stdout.write(`${JSON.stringify(counts)}\n`);
    return Object.values(counts).some((count) => count.failed > 0) ? 1 : 0;
  } finally {
    await upstream.close();
    await store.close();
  }
}
