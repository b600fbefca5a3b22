import type { Blend, LoadResult } from '../load-job.js';
import { spread } from '../statistics.js';
import type { Around } from './scenario.js';
import { type Setup, Stage } from './stage.js';

/** Figures of a closed loop. Times in ms, CPU in seconds per 1,000 intents, of everything that serves. */
export interface Throughput {
  readonly perSecond: number;
  readonly cpuPer1000: number;
  readonly p50Single: number;
  readonly p99Single: number;
  /** Seconds after the last answer until nothing could move any more. */
  readonly settleSeconds: number;
}

export interface Run {
  readonly setup: Setup;
  readonly blend?: Blend;
  readonly intents: number;
  readonly concurrency: number;
  /** Requests one at a time, after the others; none when left out. */
  readonly singles?: number;
}

const warmUp = 2_000;

/** Starts a stage, warms it up and measures it. */
export async function throughput(around: Around, run: Run, faults: string[]): Promise<Throughput> {
  const { blend = 'plain', intents, concurrency, singles = 0 } = run;
  const stage = await Stage.start(around, run.setup);
  try {
    await stage.send(warmUp, concurrency, blend);
    await stage.database.prepare();
    const before = stage.cpuSeconds();
    const { seconds } = await stage.send(intents, concurrency, blend);
    const cpu = stage.cpuSeconds() - before;
    const answeredAt = performance.now();
    await stage.settle();
    const settleSeconds = (performance.now() - answeredAt) / 1000;
    const single: Pick<LoadResult, 'p50' | 'p99'> =
      singles > 0 ? await stage.send(singles, 1, blend) : { p50: Number.NaN, p99: Number.NaN };
    faults.push(...(await stage.faults()));
    return {
      perSecond: intents / seconds,
      cpuPer1000: (cpu * 1000) / intents,
      p50Single: single.p50,
      p99Single: single.p99,
      settleSeconds,
    };
  } finally {
    await stage.stop();
  }
}

export interface Compared {
  readonly plain: Throughput;
  readonly other: Throughput;
}

/** Measures two ways in turn, so that both see the same minutes of the machine; the order alternates. */
export async function compare(around: Around, plain: Run, other: Run, faults: string[]): Promise<Compared[]> {
  const pairs: Compared[] = [];
  for (let round = 0; round < around.rounds; round += 1) {
    const measured = new Map<Run, Throughput>();
    for (const run of round % 2 === 0 ? [plain, other] : [other, plain]) {
      measured.set(run, await throughput(around, run, faults));
    }
    pairs.push({ plain: measured.get(plain) as Throughput, other: measured.get(other) as Throughput });
  }
  return pairs;
}

/** Median over the rounds of the other way's figure over the plain one's, each in the same round. */
export function ratio(pairs: readonly Compared[], of: (each: Throughput) => number): number {
  return spread(pairs.map(({ plain, other }) => of(other) / of(plain))).median;
}

export function median(pairs: readonly Compared[], of: (each: Compared) => number): number {
  return spread(pairs.map(of)).median;
}
