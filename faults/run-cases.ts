import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { CaseReport, FaultCase } from './case.js';
import type { Machine } from './machine.js';
import { keptFile } from './rounds/kept-round.js';

export interface RunOptions {
  readonly machine: Machine;
  /** Of the run. */
  readonly seed: number;
  /** A directory of its own for this run. */
  readonly dir: string;
  /** Cases at the same time; those below L5 watch the clock and have the machine for themselves. */
  readonly workers: number;
  /** No further case is begun after this time, in ms since the epoch; null for no limit. */
  readonly until: number | null;
  /** No further case is begun after one that broke a rule. */
  readonly failFast: boolean;
  say(line: string): void;
  readonly signal: AbortSignal;
  /** Called with all reports so far whenever a case has ended, so that whoever is killed has lost nothing. */
  ended?(reports: readonly CaseReport[]): Promise<void>;
}

/** Runs the cases in their order and tells about each; what a failed one left stays in the directory of the run. */
export async function runCases(cases: readonly FaultCase[], options: RunOptions): Promise<CaseReport[]> {
  const reports: CaseReport[] = [];
  const ours = new Set<Promise<void>>();
  for (const [index, each] of cases.entries()) {
    const sharing = each.layer === 'L5' && (cases[index - 1]?.layer ?? 'L5') === 'L5';
    while (ours.size >= (sharing ? options.workers : 1)) await Promise.race(ours);
    if (options.signal.aborted || (options.until !== null && Date.now() >= options.until)) break;
    if (options.failFast && reports.some(({ violations }) => violations.length > 0)) break;
    const dir = path.join(options.dir, String(index + 1));
    const work = runCase(each, cases.slice(index + 1), dir, options).then(async (report) => {
      if (report !== null) reports.push(report);
      await options.ended?.(reports);
      ours.delete(work);
    });
    ours.add(work);
  }
  await Promise.all(ours);
  for (const each of cases) await each.close?.();
  return reports;
}

/** Null for a case that was broken off. */
async function runCase(
  each: FaultCase,
  following: readonly FaultCase[],
  dir: string,
  options: RunOptions,
): Promise<CaseReport | null> {
  const { machine, say, signal } = options;
  await mkdir(dir, { recursive: true });
  const startedAt = performance.now();
  const report = await each
    .run({ machine, dir, say: (line) => say(`${each.name}: ${line}`), following, signal })
    .catch((error: unknown) => broken(each, error, options.seed, (performance.now() - startedAt) / 1_000));
  if (signal.aborted) return null;
  const { violations, seconds, intents } = report;
  if (violations.length === 0 && report.broken === undefined) {
    await leaveWhatIsKept(dir);
    say(`✓ ${each.layer} ${each.name} (${seconds.toFixed(1)} s${intents > 0 ? `, ${intents} intents` : ''})`);
    return report;
  }
  say(`✗ ${each.layer} ${each.name} (${seconds.toFixed(1)} s): ${whatFailed(report)}`);
  if (Object.keys(report.replay).length === 0) return report;
  const file = replayFile(dir);
  await writeFile(file, `${JSON.stringify({ layer: each.layer, name: each.name, replay: report.replay }, null, 2)}\n`);
  say(`  again: npm run faults -- --replay ${path.relative(process.cwd(), file)}`);
  return { ...report, replayFile: path.relative(process.cwd(), file) };
}

/** What a case that held can be judged again by stays; everything else of it goes. */
async function leaveWhatIsKept(dir: string): Promise<void> {
  const entries = await readdir(dir);
  const others = entries.filter((name) => name !== keptFile);
  if (others.length === entries.length) return rm(dir, { recursive: true, force: true });
  await Promise.all(others.map((name) => rm(path.join(dir, name), { recursive: true, force: true })));
}

/** Where a failed case is written down so that it can be run again. */
export function replayFile(dir: string): string {
  return path.join(dir, 'replay.json');
}

function whatFailed({ broken, violations }: CaseReport): string {
  if (broken !== undefined) return `the rig itself failed: ${broken}`;
  const rules = [...new Set(violations.map(({ rule }) => rule))].join(', ');
  return `${violations.length} violation${violations.length === 1 ? '' : 's'} (${rules}): ${violations[0]?.message}`;
}

/** It threw, and has told nothing that it could be run again from but its name. */
function broken({ name, layer }: FaultCase, error: unknown, seed: number, seconds: number): CaseReport {
  const why = error instanceof Error ? error.message : String(error);
  const none = { intents: 0, faults: {}, reached: {}, figures: {}, violations: [] };
  return { ...none, name, layer, broken: why, seed, seconds, replay: {} };
}
