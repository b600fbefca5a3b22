import { Store } from '@intendant/store';
import type { BenchDatabase } from './database.js';

/** @throws unless exactly so many intents are there, all committed, and the read model says what the log says. */
export async function checkIntents(database: BenchDatabase, intents: number): Promise<void> {
  const states = await database.query<{ state: string; count: number }>(
    'SELECT state, count(*)::int AS count FROM intents GROUP BY state',
  );
  const found = states.map(({ state, count }) => `${count} ${state}`).join(', ');
  if (found !== `${intents} committed`) throw new Error(`expected ${intents} committed intents, found ${found}`);
  const store = await Store.open({ url: database.url, name: 'bench' });
  try {
    const differences = await store.verify();
    if (differences.length > 0)
      throw new Error(`read model and log differ: ${JSON.stringify(differences.slice(0, 5))}`);
  } finally {
    await store.close();
  }
}
