import type { Ceiling } from './ceiling.js';
import type { Figures, Measured, Named } from './figures.js';
import type { Options } from './options.js';
import { type Ratios, ratiosAtConcurrency, ratiosOf } from './ratios.js';
import { type Spread, spread } from './statistics.js';

export interface Report {
  readonly options: Options;
  readonly ceiling: Ceiling;
  readonly systems: Partial<Record<Measured, Summary>>;
  /** Ours over theirs, in the same round. */
  readonly ratios: Ratios;
  /** The same for the further loads, by requests in flight. */
  readonly ratios_at_concurrency: Readonly<Record<string, Ratios>>;
  readonly measurements: readonly Figures[];
}

export interface LoadSummary {
  readonly inFlight: number;
  readonly perSecond: Spread;
  readonly cpuPer1000: Spread;
}

export interface Summary extends LoadSummary {
  readonly p50: Spread;
  readonly p99: Spread;
  readonly p50Loaded: Spread;
  readonly p99Loaded: Spread;
  readonly otherCores: Spread;
  readonly further: readonly LoadSummary[];
}

export function summarize(options: Options, ceiling: Ceiling, measurements: readonly Figures[]): Report {
  const names = options.systems.filter((name) => measurements.some(({ system }) => system === name));
  const summaries = names.map(
    (name) => [name, summaryOf(measurements.filter(({ system }) => system === name))] as const,
  );
  return {
    options,
    ceiling,
    systems: Object.fromEntries(summaries),
    ratios: ratiosOf(measurements),
    ratios_at_concurrency: ratiosAtConcurrency(measurements),
    measurements,
  };
}

function summaryOf(figures: readonly Figures[]): Summary {
  const of = (value: (each: Figures) => number) => spread(figures.map(value));
  const further = (figures[0]?.further ?? []).map(({ inFlight }, i) => ({
    inFlight,
    perSecond: of((each) => each.further[i]?.perSecond ?? Number.NaN),
    cpuPer1000: of((each) => each.further[i]?.cpuTotal ?? Number.NaN),
  }));
  return {
    inFlight: figures[0]?.inFlight ?? Number.NaN,
    perSecond: of((each) => each.perSecond),
    cpuPer1000: of((each) => each.cpuTotal),
    p50: of((each) => each.oneAtATime.p50),
    p99: of((each) => each.oneAtATime.p99),
    p50Loaded: of((each) => each.loaded.p50),
    p99Loaded: of((each) => each.loaded.p99),
    otherCores: of((each) => each.otherCores),
    further,
  };
}

/** Quiet machines show up to 0.1: the kernel's threads for disk and network. */
const quietCores = 0.3;

/** How many measurements were disturbed by other work on the machine, as a sentence without its full stop. */
export function disturbance({ measurements }: Pick<Report, 'measurements'>): string {
  const disturbed = measurements.filter(({ otherCores, further }) =>
    [otherCores, ...further.map((load) => load.otherCores)].some((cores) => cores > quietCores),
  );
  return `${disturbed.length} of ${measurements.length} measurements shared the machine with more than ${quietCores} cores of other work`;
}

/** The report for a terminal. */
export function toText(report: Report): string {
  const { options, ceiling, systems, ratios, ratios_at_concurrency, measurements } = report;
  const lines = [
    `${options.intents} intents, ${options.rounds} rounds: median (least to greatest)`,
    `load generator alone: ${Math.round(ceiling.nats)}/s over NATS, ${Math.round(ceiling.http)}/s over HTTP`,
    disturbance(report),
  ];
  for (const [name, summary] of Object.entries(systems)) {
    const last = measurements.findLast(({ system }) => system === name);
    const counted = measurements.find(({ system, counts }) => system === name && counts !== null)?.counts;
    lines.push('', `${name}, ${summary.inFlight} in flight`);
    lines.push(`  throughput         ${text(summary.perSecond, 0)} intents/s`);
    lines.push(`  CPU s per 1,000    ${text(summary.cpuPer1000, 3)}${last ? `: ${list(last.cpu, 3)}` : ''}`);
    for (const { inFlight, perSecond, cpuPer1000 } of summary.further) {
      const cpu = `CPU s per 1,000 ${text(cpuPer1000, 3)}`;
      lines.push(`  ${`${inFlight} in flight`.padEnd(18)} ${text(perSecond, 0)} intents/s, ${cpu}`);
    }
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
  lines.push(...ratioLines('ratios', ratios));
  for (const [inFlight, at] of Object.entries(ratios_at_concurrency))
    lines.push(...ratioLines(`ratios, ${inFlight} in flight`, at));
  return lines.join('\n');
}

function ratioLines(title: string, ratios: Ratios): string[] {
  const lines = Object.entries(ratios).map(([name, shapes]) => {
    const each = Object.entries(shapes).map(([shape, ratio]) => `${shape} ${text(ratio, 2)}`);
    return `  ${name.padEnd(24)} ${each.join(', ')}`;
  });
  return lines.length > 0 ? ['', title, ...lines] : [];
}

export function text({ median, least, greatest }: Spread, digits: number): string {
  return `${median.toFixed(digits)} (${least.toFixed(digits)} to ${greatest.toFixed(digits)})`;
}

function list(values: Named, digits: number): string {
  return Object.entries(values)
    .map(([name, value]) => `${name} ${value.toFixed(digits)}`)
    .join(', ');
}
