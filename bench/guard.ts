import type { UnderLoad } from './figures.js';
import { Measurement, type Surroundings } from './measure.js';
import { rotated } from './rotation.js';
import { type Spread, spread } from './statistics.js';

type Shape = 'standalone' | 'services';

/**
 * How far the ratios to the afternoon version may go before the build fails. They are generous, about half as good as
 * what docs/performance.md publishes: a short bench on a shared machine finds what was broken, not what was lost.
 */
export const limits: Readonly<Record<Shape, { readonly throughput: number; readonly cpu: number }>> = {
  standalone: { throughput: 0.5, cpu: 1.6 },
  services: { throughput: 0.35, cpu: 2.2 },
};
/** A round is worth nothing when the machine did more than this besides, in cores. */
export const disturbedCores = 0.5;
/** Compiles what is hot; the rest is as warm as a minute of CI allows. */
const warmUp = 2_000;

/** Intendant in one shape and the afternoon version, one right after the other. */
export interface GuardRound {
  readonly shape: Shape;
  readonly ours: UnderLoad;
  readonly theirs: UnderLoad;
}

export interface ShapeJudgement {
  readonly shape: Shape;
  /** Of the undisturbed rounds; of all where there are none. */
  readonly throughput_vs_afternoon: Spread;
  readonly cpu_vs_afternoon: Spread;
  /** Most cores of other work in each round. */
  readonly otherCores: readonly number[];
  readonly verdict: 'kept' | 'broken' | 'disturbed';
}

export interface Judgement {
  readonly shapes: readonly ShapeJudgement[];
  /** Broken where any shape is; disturbed where one could not be judged and none is broken. */
  readonly verdict: ShapeJudgement['verdict'];
}

/** Both shapes in turn against one afternoon version; each is started once, so that the rounds are short. */
export async function measureForGuard(around: Surroundings): Promise<GuardRound[]> {
  const { concurrency } = around.options;
  const afternoon = await Measurement.start('afternoon', around);
  try {
    await afternoon.send(warmUp, concurrency);
    const rounds: GuardRound[] = [];
    for (const shape of ['standalone', 'services'] as const) {
      rounds.push(...(await measureShape(shape, afternoon, around)));
    }
    await afternoon.check();
    return rounds;
  } finally {
    await afternoon.stop();
  }
}

async function measureShape(shape: Shape, afternoon: Measurement, around: Surroundings): Promise<GuardRound[]> {
  const { rounds, intents, concurrency } = around.options;
  await around.messages.wipe();
  const ours = await Measurement.start(shape, around);
  try {
    await ours.send(warmUp, concurrency);
    const measured: GuardRound[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      const loads = new Map<Measurement, UnderLoad>();
      for (const each of rotated([afternoon, ours], round)) {
        await each.prepare();
        const other = each === ours ? afternoon : ours;
        loads.set(each, await each.underLoad(intents, concurrency, other));
      }
      measured.push({ shape, ours: loads.get(ours) as UnderLoad, theirs: loads.get(afternoon) as UnderLoad });
    }
    await ours.check();
    return measured;
  } finally {
    await ours.stop();
  }
}

export function judge(rounds: readonly GuardRound[]): Judgement {
  const shapes = (['standalone', 'services'] as const).map((shape) =>
    judgeShape(
      shape,
      rounds.filter((round) => round.shape === shape),
    ),
  );
  const verdicts = shapes.map(({ verdict }) => verdict);
  const verdict = (['broken', 'disturbed'] as const).find((each) => verdicts.includes(each)) ?? 'kept';
  return { shapes, verdict };
}

function judgeShape(shape: Shape, rounds: readonly GuardRound[]): ShapeJudgement {
  const others = ({ ours, theirs }: GuardRound) => Math.max(ours.otherCores, theirs.otherCores);
  const quiet = rounds.filter((round) => others(round) <= disturbedCores);
  const counted = quiet.length > 0 ? quiet : rounds;
  const throughput = spread(counted.map(({ ours, theirs }) => ours.perSecond / theirs.perSecond));
  const cpu = spread(counted.map(({ ours, theirs }) => ours.cpuTotal / theirs.cpuTotal));
  const kept = throughput.median >= limits[shape].throughput && cpu.median <= limits[shape].cpu;
  return {
    shape,
    throughput_vs_afternoon: throughput,
    cpu_vs_afternoon: cpu,
    otherCores: rounds.map(others),
    verdict: quiet.length === 0 ? 'disturbed' : kept ? 'kept' : 'broken',
  };
}

export function toLines({ shapes }: Judgement): string[] {
  return shapes.map((each) => {
    const { throughput, cpu } = limits[each.shape];
    const ratios = `throughput ${text(each.throughput_vs_afternoon)}, at least ${throughput}; CPU ${text(each.cpu_vs_afternoon)}, at most ${cpu}`;
    const others = `${each.otherCores.map((cores) => cores.toFixed(1)).join(', ')} cores of other work`;
    const verdict = each.verdict === 'disturbed' ? 'not judged, every round was disturbed' : each.verdict;
    return `${each.shape} against the afternoon version: ${ratios}; ${others}: ${verdict}`;
  });
}

function text({ median, least, greatest }: Spread): string {
  return `${median.toFixed(2)} (${least.toFixed(2)} to ${greatest.toFixed(2)})`;
}
