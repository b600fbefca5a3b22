import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { CaseReport, FaultCase } from './case.js';
import { caseAgain, chosenCases } from './layers.js';
import { type Machine, readMachine } from './machine.js';
import { runGate } from './mutations/gate.js';
import { type Options, readOptions, usage } from './options.js';
import { htmlReport } from './report/html-report.js';
import { jsonReport, readReport } from './report/json-report.js';
import { addUp, type RunReport } from './report/run-report.js';
import { textReport } from './report/text-report.js';
import { judgeAgain } from './rounds/kept-round.js';
import { runCases } from './run-cases.js';

const say = (line: string) => void process.stdout.write(`${line}\n`);

async function write(run: RunReport, files: readonly (string | null)[]): Promise<void> {
  for (const file of files) {
    if (file !== null) await writeFile(file, file.endsWith('.html') ? htmlReport(run) : jsonReport(run));
  }
}

async function run(cases: readonly FaultCase[], machine: Machine, options: Options): Promise<boolean> {
  const startedAt = Date.now();
  const dir = path.join(machine.stateDir, 'runs', new Date(startedAt).toISOString().replaceAll(':', '-'));
  await mkdir(dir, { recursive: true });
  say(`faults: ${cases.length} cases, seed ${options.seed}`);
  const until = options.minutes === null ? null : startedAt + options.minutes * 60_000;
  const page = path.join(dir, 'report.html');
  const reportOf = (reports: readonly CaseReport[]): RunReport => {
    const seconds = (Date.now() - startedAt) / 1_000;
    return { startedAt, seconds, seed: options.seed, commit: machine.commit, options, cases: reports };
  };
  const files = [page, path.join(dir, 'report.json'), options.json, options.html];
  const ended = (reports: readonly CaseReport[]) => write(reportOf(reports), files);
  const reports = await runCases(cases, {
    ...{ machine, dir, workers: options.workers, failFast: options.failFast, until, say, signal: aborted(), ended },
  });
  say(textReport(reportOf(reports)));
  say(`report: ${path.relative(process.cwd(), page)}`);
  return reports.length > 0 && reports.every((each) => each.violations.length === 0 && each.broken === undefined);
}

async function gate(machine: Machine, names: readonly string[], allLayers: boolean): Promise<boolean> {
  const { passed, table, file } = await runGate({ machine, names, allLayers, say, signal: aborted() });
  say(`\n${table}\nrows: ${path.relative(process.cwd(), file)}`);
  return passed;
}

/** Aborted when the run is asked to end. */
function aborted(): AbortSignal {
  const end = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => end.abort());
  return end.signal;
}

async function sum({ addUp: files, json, html }: Options): Promise<boolean> {
  const reports = await Promise.all(files.map(async (file) => readReport(await readFile(file, 'utf8'), file)));
  const report = addUp(reports);
  say(textReport(report));
  await write(report, [json, html]);
  return true;
}

/** What is kept of the rounds of earlier runs, under the present rules. */
async function again({ judge: dirs, json, html }: Options): Promise<boolean> {
  const reports = await Promise.all(
    dirs.map(async (dir) => {
      const file = path.join(dir, 'report.json');
      return { dir, report: readReport(await readFile(file, 'utf8'), file) };
    }),
  );
  const judged: RunReport[] = [];
  for (const { dir, report } of reports) judged.push({ ...report, cases: await judgeAgain(dir, report.cases) });
  const report = addUp(judged);
  say(textReport(report));
  await write(report, [json, html]);
  return report.cases.every(({ violations, broken }) => violations.length === 0 && broken === undefined);
}

async function main(options: Options): Promise<boolean> {
  if (options.judge.length > 0) return again(options);
  if (options.addUp.length > 0) return sum(options);
  const machine = readMachine(process.env['RUN_FILE']);
  if (options.mutants !== null) return gate(machine, options.mutants, options.allLayers);
  const cases =
    options.replay === null ? await chosenCases(options) : [caseAgain(await readFile(options.replay, 'utf8'))];
  if (!options.list) return run(cases, machine, options);
  for (const { layer, name } of cases) say(`${layer} ${name}`);
  return true;
}

try {
  process.exitCode = (await main(readOptions(process.argv.slice(2)))) ? 0 : 1;
} catch (error) {
  process.stderr.write(`faults: ${error instanceof Error ? error.message : String(error)}\n\n${usage}\n`);
  process.exitCode = 1;
}
// Node's own clean-up can spin for ever after connections that the rig has cut.
process.exit();
