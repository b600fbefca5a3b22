import type { TimelineLine } from '../history/violation.js';
import type { RunFacts } from './run-report.js';
import type { Summary } from './summary.js';

/** The outcome in one sentence. */
export function verdictOf({ cases, notRun, violations, failed, broken }: Summary): string {
  const parts = [
    violations > 0 && `${plural(violations, 'violation')} in ${failed.length} of ${plural(cases, 'case')}`,
    broken.length > 0 && `${plural(broken.length, 'case')} could not be judged`,
  ].filter((part) => part !== false);
  const left = notRun > 0 ? ` ${number(notRun)} of ${plural(cases + notRun, 'case')} not run.` : '';
  if (cases === 0) return `No case was run.${left}`;
  return `${parts.length === 0 ? `No violation in ${plural(cases, 'case')}` : parts.join('; ')}.${left}`;
}

/** `1 case`, `2,000 cases`. */
export function plural(n: number, what: string): string {
  return `${number(n)} ${what}${n === 1 ? '' : 's'}`;
}

/** With its thousands apart, and one digit where it is no whole number. */
export function number(n: number): string {
  return n.toLocaleString('en-GB', { maximumFractionDigits: 1 });
}

/** `42 s`, `12 min`, `2 h 5 min`. */
export function length(seconds: number): string {
  if (seconds < 120) return `${number(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 120) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function describeRun({ startedAt, seconds, seed, commit }: RunFacts): string {
  return `${moment(startedAt)}, ${length(seconds)}, seed ${seed}, commit ${commit?.slice(0, 12) ?? 'unknown'}`;
}

function moment(at: number): string {
  return new Date(at).toISOString().slice(0, 16).replace('T', ' ').concat(' UTC');
}

/** Where a report goes says nothing about the run, and may be a path of somebody's machine. */
const outputs = ['json', 'html'];

/** Options that were given and mean something. */
export function optionsOf({ options }: RunFacts): string {
  if (typeof options !== 'object' || options === null) return JSON.stringify(options ?? null);
  const given = Object.entries(options).filter(
    ([name, value]) =>
      !outputs.includes(name) && value !== null && value !== false && !(Array.isArray(value) && value.length === 0),
  );
  return given.map(([name, value]) => `${name} ${Array.isArray(value) ? value.join(',') : String(value)}`).join(', ');
}

/** Seconds since the first line that has a time, such as `+1.204`; empty for lines without one. */
export function sinceFirst(timeline: readonly TimelineLine[]): (line: TimelineLine) => string {
  const first = timeline.find(({ at }) => at !== null)?.at ?? 0;
  return ({ at }) => (at === null ? '' : `+${((at - first) / 1_000).toFixed(3)}`);
}
