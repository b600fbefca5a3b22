import type { Figures, Measured } from './figures.js';
import { isPeer } from './peers.js';
import { type Spread, spread } from './statistics.js';

const own = ['standalone', 'services'] as const;

/** One ratio for each shape of Intendant; a shape that was not measured is left out. */
export type ByShape = Partial<Record<(typeof own)[number], Spread>>;
export type Ratios = Partial<Record<RatioName, ByShape>>;

type Value = (figures: Figures) => number;
/** What ours is divided by, from all figures of the same round; NaN when that was not measured. */
type Yardstick = (round: readonly Figures[], value: Value) => number;

const throughput: Value = ({ perSecond }) => perSecond;
const cpu: Value = ({ cpuTotal }) => cpuTotal;
const p50: Value = ({ oneAtATime }) => oneAtATime.p50;
const p99: Value = ({ oneAtATime }) => oneAtATime.p99;

const that =
  (name: Measured): Yardstick =>
  (round, value) => {
    const found = round.find(({ system }) => system === name);
    return found ? value(found) : Number.NaN;
  };
const ofPeers =
  (choose: (...values: number[]) => number): Yardstick =>
  (round, value) => {
    const peers = round.filter(({ system }) => isPeer(system));
    return peers.length > 0 ? choose(...peers.map(value)) : Number.NaN;
  };

const definitions = {
  throughput_vs_best_peer: [throughput, ofPeers(Math.max)],
  throughput_vs_afternoon: [throughput, that('afternoon')],
  cpu_vs_afternoon: [cpu, that('afternoon')],
  p50_vs_fastest_peer: [p50, ofPeers(Math.min)],
  p50_vs_restate: [p50, that('restate')],
  p50_vs_graphile: [p50, that('graphile-worker')],
  p50_vs_afternoon: [p50, that('afternoon')],
  p99_vs_restate: [p99, that('restate')],
  p99_vs_dbos: [p99, that('dbos')],
} as const satisfies Record<string, readonly [Value, Yardstick]>;

export type RatioName = keyof typeof definitions;
const names = Object.keys(definitions) as RatioName[];
const namesUnderLoad = names.filter((name) => definitions[name][0] === throughput || definitions[name][0] === cpu);

/** Ours over theirs, each pair from the same round; what was not measured is left out. */
export function ratiosOf(measurements: readonly Figures[]): Ratios {
  return ratiosNamed(names, measurements);
}

/** The same for the further loads, by requests in flight: throughput and CPU only. */
export function ratiosAtConcurrency(measurements: readonly Figures[]): Record<string, Ratios> {
  const inFlight = new Set(measurements.flatMap(({ further }) => further.map((load) => load.inFlight)));
  return Object.fromEntries(
    [...inFlight].map((wanted) => {
      const there = measurements.flatMap((figures) => {
        const load = figures.further.find((each) => each.inFlight === wanted);
        return load ? [{ ...figures, ...load }] : [];
      });
      return [wanted, ratiosNamed(namesUnderLoad, there)];
    }),
  );
}

function ratiosNamed(wanted: readonly RatioName[], measurements: readonly Figures[]): Ratios {
  const entries = wanted.map((name) => [name, byShape(...definitions[name], measurements)] as const);
  return Object.fromEntries(entries.filter(([, shapes]) => Object.keys(shapes).length > 0));
}

function byShape(value: Value, yardstick: Yardstick, measurements: readonly Figures[]): ByShape {
  const ratio = (ours: Figures) => {
    const round = measurements.filter((each) => each.round === ours.round);
    return value(ours) / yardstick(round, value);
  };
  const shapes = own.map((shape) => {
    const ratios = measurements.filter(({ system }) => system === shape).map(ratio);
    return [shape, spread(ratios.filter((each) => !Number.isNaN(each)))] as const;
  });
  return Object.fromEntries(shapes.filter(([, { median }]) => !Number.isNaN(median)));
}
