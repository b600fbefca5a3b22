import { RunTokens } from '@intendant/credentials';
import { Store } from '@intendant/store';
import { ulid } from 'ulid';
import { permission } from './tool-folder.js';

/** Longer than any scenario. */
const runLifeMs = 6 * 3_600_000;
const atOnce = 64;

export interface OpenedRuns {
  readonly ids: readonly string[];
  readonly tokens: readonly string[];
}

/** The trusted side opens runs over HTTP; here they are put where that puts them. */
export async function openRuns(databaseUrl: string, tokenSecret: string, count: number): Promise<OpenedRuns> {
  const store = await Store.open({ url: databaseUrl, name: 'bench' });
  const issuer = new RunTokens(tokenSecret);
  const open = async (i: number) => {
    const session = { tenant: 'bench', user: `user${i}`, profile: 'batch', permissions: [permission], phase: null };
    const run = await store.runs.open(
      { ...session, profile: 'batch', id: `run_${ulid()}`, openedBy: 'bench' },
      runLifeMs,
    );
    return { id: run.id, token: await issuer.issue({ ...run, runId: run.id }) };
  };
  const opened: { id: string; token: string }[] = [];
  while (opened.length < count) {
    const next = Array.from({ length: Math.min(atOnce, count - opened.length) }, (_, i) => open(opened.length + i));
    opened.push(...(await Promise.all(next)));
  }
  await store.close();
  return { ids: opened.map(({ id }) => id), tokens: opened.map(({ token }) => token) };
}
