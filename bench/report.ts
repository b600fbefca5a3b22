import type { Ceiling } from './ceiling.js';
import type { Figures, Named } from './figures.js';
import type { Options } from './options.js';
import { type Spread, spread } from './statistics.js';
import type { SystemName } from './systems.js';

/** Ours over the afternoon version's, in the same round. */
export interface Ratios {
  readonly throughput_vs_afternoon: Spread;
  readonly cpu_vs_afternoon: Spread;
  readonly p50_vs_afternoon: Spread;
}

export interface Report {
  readonly options: Options;
  readonly ceiling: Ceiling;
  readonly systems: Partial<Record<SystemName, Summary>>;
  readonly ratios: Partial<Record<SystemName, Ratios>>;
  readonly measurements: readonly Figures[];
}

export interface Summary {
  readonly perSecond: Spread;
  readonly cpuPer1000: Spread;
  readonly p50: Spread;
  readonly p99: Spread;
  readonly p50Loaded: Spread;
  readonly p99Loaded: Spread;
  readonly otherCores: Spread;
}

export function summarize(options: Options, ceiling: Ceiling, measurements: readonly Figures[]): Report {
  const names = options.systems.filter((name) => measurements.some(({ system }) => system === name));
  const yardstick = measurements.filter(({ system }) => system === 'afternoon');
  const ofSystem = (name: SystemName) => measurements.filter(({ system }) => system === name);
  const ours = yardstick.length > 0 ? names.filter((name) => name !== 'afternoon') : [];
  return {
    options,
    ceiling,
    systems: Object.fromEntries(names.map((name) => [name, summaryOf(ofSystem(name))])),
    ratios: Object.fromEntries(ours.map((name) => [name, ratiosOf(ofSystem(name), yardstick)])),
    measurements,
  };
}

function summaryOf(figures: readonly Figures[]): Summary {
  const of = (value: (each: Figures) => number) => spread(figures.map(value));
  return {
    perSecond: of((each) => each.perSecond),
    cpuPer1000: of((each) => each.cpuTotal),
    p50: of((each) => each.oneAtATime.p50),
    p99: of((each) => each.oneAtATime.p99),
    p50Loaded: of((each) => each.loaded.p50),
    p99Loaded: of((each) => each.loaded.p99),
    otherCores: of((each) => each.otherCores),
  };
}

function ratiosOf(figures: readonly Figures[], yardstick: readonly Figures[]): Ratios {
  const over = (value: (each: Figures) => number) =>
    spread(
      figures.flatMap((each) => {
        const same = yardstick.find(({ round }) => round === each.round);
        return same ? [value(each) / value(same)] : [];
      }),
    );
  return {
    throughput_vs_afternoon: over((each) => each.perSecond),
    cpu_vs_afternoon: over((each) => each.cpuTotal),
    p50_vs_afternoon: over((each) => each.oneAtATime.p50),
  };
}

/** The report for a terminal. */
export function toText({ options, ceiling, systems, ratios, measurements }: Report): string {
  const lines = [
    `${options.intents} intents, ${options.concurrency} in flight, ${options.rounds} rounds: median (least to greatest)`,
    `load generator alone: ${Math.round(ceiling.nats)}/s over NATS, ${Math.round(ceiling.http)}/s over HTTP`,
  ];
  for (const [name, summary] of Object.entries(systems)) {
    const last = measurements.findLast(({ system }) => system === name);
    const counted = measurements.find(({ system, counts }) => system === name && counts !== null)?.counts;
    lines.push('', name);
    lines.push(`  throughput         ${text(summary.perSecond, 0)} intents/s`);
    lines.push(`  CPU s per 1,000    ${text(summary.cpuPer1000, 3)}${last ? `: ${list(last.cpu, 3)}` : ''}`);
    lines.push(`  one at a time, ms  p50 ${text(summary.p50, 2)}, p99 ${text(summary.p99, 2)}`);
    lines.push(`  under load, ms     p50 ${text(summary.p50Loaded, 1)}, p99 ${text(summary.p99Loaded, 1)}`);
    if (last)
      lines.push(`  memory, MiB        idle ${list(last.idleMiB, 0)}; after the load ${list(last.loadedMiB, 0)}`);
    if (counted) {
      const { transactions, walBytes, messages, idleCores } = counted;
      lines.push(`  per intent         ${transactions.toFixed(2)} transactions, ${walBytes.toFixed(0)} bytes of WAL`);
      if (Object.keys(messages).length > 0) lines.push(`  messages           ${list(messages, 3)}`);
      lines.push(`  idle               ${(idleCores * 100).toFixed(1)} % of a core`);
    }
    lines.push(`  not accounted for  ${text(summary.otherCores, 2)} cores`);
  }
  for (const [name, ratio] of Object.entries(ratios)) {
    lines.push('', `${name} over the afternoon version`);
    lines.push(`  throughput         ${text(ratio.throughput_vs_afternoon, 2)}`);
    lines.push(`  CPU                ${text(ratio.cpu_vs_afternoon, 2)}`);
    lines.push(`  p50 one at a time  ${text(ratio.p50_vs_afternoon, 2)}`);
  }
  return lines.join('\n');
}

function text({ median, min, max }: Spread, digits: number): string {
  return `${median.toFixed(digits)} (${min.toFixed(digits)} to ${max.toFixed(digits)})`;
}

function list(values: Named, digits: number): string {
  return Object.entries(values)
    .map(([name, value]) => `${name} ${value.toFixed(digits)}`)
    .join(', ');
}
