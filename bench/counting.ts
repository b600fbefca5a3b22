import { setTimeout as wait } from 'node:timers/promises';
import type { Counts } from './figures.js';
import type { Messages } from './messages.js';
import { cpuOfTrees } from './process-tree.js';
import { total } from './statistics.js';
import type { SystemOnPostgres } from './systems.js';

/** Backends of PostgreSQL report their transactions up to ten seconds late when they become idle. */
const reportedAfterMs = 10_500;

/** Begins to count; the function returned gives the counts per intent once the load is over. */
export async function counting(
  { database, usesNats }: Pick<SystemOnPostgres, 'database' | 'usesNats'>,
  messages: Messages,
  trees: ReadonlyMap<string, number>,
): Promise<(intents: number) => Promise<Counts>> {
  const cpuBefore = total(cpuOfTrees(trees).values());
  await wait(reportedAfterMs);
  const idleCores = (total(cpuOfTrees(trees).values()) - cpuBefore) / (reportedAfterMs / 1000);
  const storedBefore = usesNats ? await messages.stored() : {};
  const before = await database.counters();
  return async (intents) => {
    const { walBytes } = await database.counters();
    await wait(reportedAfterMs);
    const { transactions } = await database.counters();
    const stored = usesNats ? await messages.stored() : {};
    const perIntent = Object.entries(stored).map(
      ([stream, count]) => [stream, (count - (storedBefore[stream] ?? 0)) / intents] as const,
    );
    return {
      transactions: (transactions - before.transactions) / intents,
      walBytes: (walBytes - before.walBytes) / intents,
      messages: Object.fromEntries(perIntent),
      idleCores,
    };
  };
}
