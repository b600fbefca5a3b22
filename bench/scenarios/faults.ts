import { Store } from '@intendant/store';
import type { BenchDatabase } from '../database.js';
import type { OpenResult } from '../open-loop.js';

/** `writes` counts requests at the upstream, `effects` counts keys. */
export interface Effects {
  readonly writes: number;
  readonly effects: number;
}

/** An open loop that is over, and which requests it sent. */
export interface Arrived extends OpenResult {
  readonly first: number;
  readonly count: number;
}

/** What was sent, and so has to be there. */
export interface Expected {
  /** By closed loops, where every answer is known to be right. */
  readonly committed: number;
  readonly denied: number;
  readonly runs: readonly string[];
  /** Whatever an open loop was told to be recorded has to be there; more may be, where an answer got lost. */
  readonly openLoops: readonly Arrived[];
}

/** Logs up to this size are read from end to end. */
const mostVerified = 60_000;

/** What is lost, doubled or wrong, in words; empty when all is well. */
export async function faultsOf(
  database: BenchDatabase,
  expected: Expected,
  { writes, effects }: Effects,
): Promise<string[]> {
  const faults: string[] = [];
  const runs = expected.runs.map((id) => `'${id}'`).join(',');
  const rows = await database.query<{ state: string; step: number }>(
    `SELECT state, substr(step_id, 6)::int AS step FROM intents WHERE run_id IN (${runs})`,
  );
  const stepsIn = (state: string) => rows.filter((row) => row.state === state).map(({ step }) => step);
  const committed = new Set(stepsIn('committed'));
  const denied = stepsIn('denied').length;
  const others = rows.filter(({ state }) => state !== 'committed' && state !== 'denied');
  if (others.length > 0) faults.push(`${others.length} intents ended otherwise, one of them ${others[0]?.state}`);

  const inOpenLoop = (step: number) =>
    expected.openLoops.some(({ first, count }) => step >= first && step < first + count);
  const closed = [...committed].filter((step) => !inOpenLoop(step)).length;
  if (closed !== expected.committed) faults.push(`${expected.committed} intents to be committed, ${closed} are`);
  if (denied !== expected.denied) faults.push(`${expected.denied} intents to be denied, ${denied} are`);
  for (const { first, recorded, phases, example } of expected.openLoops) {
    const sum = (kind: 'unanswered' | 'wrong') => phases.reduce((total, { counts }) => total + counts[kind], 0);
    if (sum('unanswered') > 0) faults.push(`${sum('unanswered')} submits got no answer`);
    if (sum('wrong') > 0) faults.push(`${sum('wrong')} submits got a wrong answer, such as ${example}`);
    const lost = recorded.filter((index) => !committed.has(first + index));
    if (lost.length > 0) faults.push(`LOST: ${lost.length} intents were answered as recorded and are not committed`);
  }
  if (effects !== committed.size) faults.push(`${committed.size} intents are committed, the upstream has ${effects}`);
  if (writes !== effects) faults.push(`DOUBLED: the upstream was asked ${writes} times for ${effects} effects`);
  faults.push(...(await differences(database)));
  return faults;
}

async function differences(database: BenchDatabase): Promise<string[]> {
  const some = await database.query(`SELECT FROM intents LIMIT ${mostVerified + 1}`);
  if (some.length > mostVerified) return [];
  const store = await Store.open({ url: database.url, name: 'bench' });
  try {
    const found = await store.verify();
    return found.length === 0 ? [] : [`read model and log differ: ${JSON.stringify(found.slice(0, 3))}`];
  } finally {
    await store.close();
  }
}
