import type { CaseReport } from '../case.js';
import type { Violation } from '../history/violation.js';
import { type RunReport, runsOf } from './run-report.js';
import { type Count, commandOf, type Summary, summaryOf } from './summary.js';
import { describeRun, length, number, plural, sinceFirst, verdictOf } from './wording.js';

/** Violations of one case whose story is told; one bug often breaks hundreds of promises in the same way. */
const told = 3;

/** What a person at a terminal reads at the end of a run. */
export function textReport(run: RunReport): string {
  const summary = summaryOf(run);
  const paragraphs = [
    runsOf(run).map(describeRun),
    layerLines(summary),
    section('Faults', countLines(summary.faults)),
    section('Dangerous states reached', countLines(summary.states.filter(({ count }) => count > 0))),
    section('Not tested: dangerous states that were never reached', untested(summary)),
    ...summary.failed.map(failedLines),
    section('Cases that could not be judged', summary.broken.flatMap(brokenLines)),
    [`${plural(summary.rounds, 'round')}, ${plural(summary.intents, 'intent')} in all. ${verdictOf(summary)}`],
  ];
  return `${paragraphs
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [title, ...lines];
}

function layerLines({ layers }: Summary): string[] {
  return layers.map(({ layer, cases, intents, seconds, violations, broken, figures }) => {
    const parts = [
      plural(cases, 'case'),
      ...(intents > 0 ? [plural(intents, 'intent')] : []),
      length(seconds),
      plural(violations, 'violation'),
      ...(broken > 0 ? [`${broken} not judged`] : []),
      ...figures.map(({ name, count }) => `${name} ${number(count)}`),
    ];
    return `${layer}  ${parts.join(', ')}`;
  });
}

function countLines(counts: readonly Count[]): string[] {
  return counts.map(({ name, count }) => `${number(count).padStart(8)}  ${name}`);
}

function untested({ notTested }: Summary): string[] {
  return notTested.map(({ name, meaning }) => `          ${name}${meaning === null ? '' : `: ${meaning}`}`);
}

function failedLines(report: CaseReport): string[] {
  const { layer, name, violations } = report;
  const more = violations.length - told;
  return [
    `✗ ${layer} ${name}: ${plural(violations.length, 'violation')}`,
    `  again: ${commandOf(report)}`,
    ...violations.slice(0, told).flatMap(violationLines),
    ...(more > 0 ? [`  and ${number(more)} more; the other reports tell all of them`] : []),
  ];
}

function violationLines({ rule, message, timeline }: Violation): string[] {
  const since = sinceFirst(timeline);
  const widest = Math.max(0, ...timeline.map(({ who }) => who.length));
  return [
    `  ${rule}  ${oneLine(message)}`,
    ...timeline.map((line) => `    ${since(line).padStart(9)}  ${line.who.padEnd(widest)}  ${oneLine(line.what)}`),
  ];
}

function brokenLines(report: CaseReport): string[] {
  return [`  ${report.layer} ${report.name}: ${oneLine(report.broken ?? '')}`, `    again: ${commandOf(report)}`];
}

/** What others wrote must not look like lines of this report, nor steer the terminal. */
function oneLine(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ');
}
