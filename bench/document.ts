import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type Bar, chart } from './chart.js';
import type { Counts } from './figures.js';
import { isPeer } from './peers.js';
import type { Ratios } from './ratios.js';
import { disturbance, type Report, type Summary } from './report.js';
import type { Spread } from './statistics.js';

const begin = '<!-- bench:begin -->';
const end = '<!-- bench:end -->';

/** @throws when the Markdown file at `base` has no place for the figures: better before a long run than after it. */
export async function checkDocument(base: string): Promise<void> {
  between(await readFile(`${base}.md`, 'utf8'), '');
}

/** Renews the figures in the Markdown file at `base` (a path without extension) and the chart beside it. */
export async function writeDocument(base: string, report: Report): Promise<void> {
  const picture = `${base}-chart.svg`;
  await writeFile(picture, chart(panelsOf(report)));
  const image = `![Throughput and CPU of each system](${path.basename(picture)})`;
  const text = between(await readFile(`${base}.md`, 'utf8'), `${image}\n\n${toMarkdown(report)}`);
  await writeFile(`${base}.md`, text);
}

/** The text with everything between the two markers replaced. */
export function between(text: string, replacement: string): string {
  const from = text.indexOf(begin);
  const to = text.indexOf(end, from);
  if (from < 0 || to < 0) throw new Error(`the report needs the lines ${begin} and ${end} in its file`);
  return `${text.slice(0, from + begin.length)}\n${replacement}\n${text.slice(to)}`;
}

function panelsOf({ systems }: Report) {
  const bars = (value: (summary: Summary) => number, digits: number): Bar[] =>
    Object.entries(systems).map(([name, summary]) => {
      const median = value(summary);
      const own = name !== 'afternoon' && !isPeer(name);
      return { label: titleOf(name), value: median, text: median.toFixed(digits), own };
    });
  return [
    { title: 'Intents per second (more is better)', bars: bars(({ perSecond }) => perSecond.median, 0) },
    // Seconds for a thousand are milliseconds for one.
    { title: 'CPU ms per intent (less is better)', bars: bars(({ cpuPer1000 }) => cpuPer1000.median, 2) },
  ];
}

/** The figures as Markdown tables. */
export function toMarkdown(report: Report): string {
  const { options, ceiling, systems, ratios, ratios_at_concurrency } = report;
  const inFlight = options.furtherConcurrencies;
  const head = ['', 'in flight', 'intents/s', 'CPU s per 1,000', 'one at a time, p50 ms', 'p99 ms'];
  const perIntent = ['commits per intent', 'WAL bytes per intent', 'JetStream messages per intent'];
  const rows = Object.entries(systems).map(([name, { perSecond, cpuPer1000, p50, p99, ...each }]) => {
    const load = [String(each.inFlight), spreadOf(perSecond, 0), spreadOf(cpuPer1000, 2)];
    return [titleOf(name), ...load, spreadOf(p50, 1), spreadOf(p99, 1), ...countsOf(countsIn(report, name))];
  });
  const low = Object.entries(systems).map(([name, { further }]) => [
    titleOf(name),
    ...further.flatMap(({ perSecond, cpuPer1000 }) => [spreadOf(perSecond, 0), spreadOf(cpuPer1000, 2)]),
  ]);
  const lowHead = inFlight.flatMap((each) => [`${each} in flight: intents/s`, 'CPU s per 1,000']);
  return [
    `${options.intents} intents, ${options.singles} one at a time, rounds: ${options.rounds}. Median (least–greatest).`,
    `The load generator alone: ${Math.round(ceiling.nats)}/s over NATS, ${Math.round(ceiling.http)}/s over HTTP.`,
    `${disturbance(report)}.`,
    '',
    table([...head, ...perIntent], rows),
    ...(inFlight.length > 0 ? ['', table(['', ...lowHead], low)] : []),
    ...ratioTable([['', ratios], ...Object.entries(ratios_at_concurrency)]),
  ].join('\n');
}

function ratioTable(loads: readonly (readonly [inFlight: string, Ratios])[]): string[] {
  const rows = loads.flatMap(([inFlight, ratios]) =>
    Object.entries(ratios).map(([name, { standalone, services }]) => [
      `${name.replaceAll('_', ' ')}${inFlight === '' ? '' : `, ${inFlight} in flight`}`,
      standalone ? spreadOf(standalone, 2) : '–',
      services ? spreadOf(services, 2) : '–',
    ]),
  );
  return rows.length > 0 ? ['', table(['ratio, same round', 'standalone', 'five services'], rows)] : [];
}

function countsIn({ measurements }: Report, name: string): Counts | undefined {
  return measurements.find(({ system, counts }) => system === name && counts !== null)?.counts ?? undefined;
}

function countsOf(counts: Counts | undefined): string[] {
  if (!counts) return ['–', '–', '–'];
  const stored = Object.entries(counts.messages).filter(([, each]) => each >= 0.001);
  const messages = stored.map(([stream, each]) => `${stream} ${each.toFixed(3)}`);
  return [counts.transactions.toFixed(2), counts.walBytes.toFixed(0), messages.join(', ') || '–'];
}

function titleOf(name: string): string {
  return { afternoon: 'afternoon version', services: 'five services' }[name] ?? name;
}

function spreadOf({ median, least, greatest }: Spread, digits: number): string {
  return `${median.toFixed(digits)} (${least.toFixed(digits)}–${greatest.toFixed(digits)})`;
}

function table(head: readonly string[], rows: readonly string[][]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
