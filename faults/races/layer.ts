import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { CaseContext, CaseReport, FaultCase, LayerOfCases, LayerOptions, Replay } from '../case.js';
import { startPostgres } from '../rig/postgres.js';
import type { RunOptions, RunOutcome } from './run-schedules.js';

/** How long schedules are played, in ms. */
const shortMs = 10_000;
const longMs = 110_000;
/** More than are played in that time. */
const manyRuns = 100_000;

type Wanted = Pick<RunOptions, 'seed' | 'runs' | 'limitMs' | 'path'>;

/** L2: two of each service in one process, on one PostgreSQL, in orders that a seed chooses. */
export const races: LayerOfCases = {
  layer: 'L2',
  title: 'scheduled races: the real services in orders that a seed chooses, await by await',
  async cases({ seed, short }: LayerOptions) {
    return [racesOf({ seed, runs: manyRuns, limitMs: short ? shortMs : longMs })];
  },
  again(replay: Replay) {
    const { seed, path } = replay;
    if (typeof seed !== 'number' || (path !== null && typeof path !== 'string')) {
      throw new Error(
        'a replay of L2 has a seed and a path: {"seed": 1, "path": "3:1"}, with path null for all of them',
      );
    }
    return racesOf({ seed, runs: manyRuns, limitMs: longMs, ...(path === null ? {} : { path }) });
  },
};

function racesOf(wanted: Wanted): FaultCase {
  const name = `races ${wanted.seed}`;
  return { name, layer: 'L2', run: (context) => run(name, wanted, context) };
}

async function run(name: string, wanted: Wanted, { machine, dir, say, signal }: CaseContext): Promise<CaseReport> {
  const startedAt = performance.now();
  const postgres = await startPostgres({ machine, dir });
  try {
    const database = { url: postgres.appUrl, ownerUrl: postgres.ownerUrl };
    const outcome = await inThread({ database, ...wanted }, signal);
    const { violations, schedules, intents, steps, kills, reached, path } = outcome;
    say(`${schedules} schedules, ${intents} intents, ${steps} steps, ${violations.length} violations`);
    return {
      name,
      layer: 'L2',
      violations,
      seed: wanted.seed,
      seconds: (performance.now() - startedAt) / 1_000,
      intents,
      faults: { kill: kills },
      reached,
      figures: { schedules, steps },
      replay: { seed: wanted.seed, path },
    };
  } finally {
    await postgres.close();
  }
}

/** @throws what it ended with, or that it was told to end. */
async function inThread(options: RunOptions, signal: AbortSignal): Promise<RunOutcome> {
  const worker = new Worker(new URL('./worker.js', import.meta.url), { workerData: options });
  const end = () => void worker.terminate();
  signal.addEventListener('abort', end, { once: true });
  try {
    const ended = once(worker, 'exit').then(() => {
      throw new Error(signal.aborted ? 'the run was ended' : 'the thread of the races ended without a result');
    });
    const [outcome] = (await Promise.race([once(worker, 'message'), ended])) as [RunOutcome];
    return outcome;
  } finally {
    signal.removeEventListener('abort', end);
    await worker.terminate();
  }
}
