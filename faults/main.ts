import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { CaseReport, FaultCase, Layer } from './case.js';
import { caseAgain, chosenCases } from './layers.js';
import { type Machine, readMachine } from './machine.js';
import { runGate } from './mutations/gate.js';
import { endlessRounds, type Options, readOptions, usage } from './options.js';
import { htmlReport } from './report/html-report.js';
import { jsonReport, readReport } from './report/json-report.js';
import { addUp, type RunReport } from './report/run-report.js';
import { textReport } from './report/text-report.js';
import { judgeAgain } from './rounds/kept-round.js';
import { runCases } from './run-cases.js';
import { waiting } from './stories/layer.js';

const say = (line: string) => void process.stdout.write(`${line}\n`);

interface Files {
  readonly json: readonly (string | null)[];
  readonly html: readonly (string | null)[];
}

async function write(run: RunReport, { json, html }: Files): Promise<void> {
  for (const file of json) if (file !== null) await writeFile(file, jsonReport(run));
  for (const file of html) if (file !== null) await writeFile(file, htmlReport(run));
}

/** Whoever asks for a report in a directory that is not there finds out now, and not when the run is over. */
async function makeRoom({ json, html }: Options): Promise<void> {
  for (const file of [json, html]) if (file !== null) await mkdir(path.dirname(file), { recursive: true });
}

function held({ cases }: RunReport): boolean {
  return cases.length > 0 && cases.every((each) => each.violations.length === 0 && each.broken === undefined);
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
    const notRun = countable(cases, options) - countable(reports, options);
    return { startedAt, seconds, seed: options.seed, commit: machine.commit, options, cases: reports, notRun };
  };
  const files = { json: [path.join(dir, 'report.json'), options.json], html: [page, options.html] };
  let reports: readonly CaseReport[] = [];
  const tell = () => {
    say(textReport(reportOf(reports)));
    say(`report: ${path.relative(process.cwd(), page)}`);
  };
  const signal = aborted();
  // A case that is broken off may need longer to put everything away than whoever ended it waits.
  signal.addEventListener('abort', tell, { once: true });
  const ended = async (soFar: readonly CaseReport[]) => {
    reports = [...soFar];
    await write(reportOf(reports), files);
  };
  const { seed, workers, failFast } = options;
  await ended([]);
  await runCases(cases, { machine, dir, seed, workers, failFast, until, say, signal, ended });
  if (signal.aborted) return false;
  tell();
  return held(reportOf(reports));
}

/** Rounds without end are no cases that could be left out. */
function countable(cases: readonly { readonly layer: Layer }[], { rounds }: Options): number {
  return rounds === endlessRounds ? cases.filter(({ layer }) => layer !== 'L5').length : cases.length;
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
  await write(report, { json: [json], html: [html] });
  return held(report);
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
  for (const { dir, report } of reports) {
    const { cases, judged: n } = await judgeAgain(dir, report.cases);
    const others = cases.length - n;
    say(`${dir}: ${n} rounds judged again${others > 0 ? `, and ${others} cases taken over as they were told` : ''}`);
    if (n === 0) throw new Error(`--judge: ${dir} has kept no round that could be judged again`);
    judged.push({ ...report, cases });
  }
  const report = addUp(judged);
  say(textReport(report));
  await write(report, { json: [json], html: [html] });
  return held(report);
}

async function main(options: Options): Promise<boolean> {
  if (options.help) {
    say(usage);
    return true;
  }
  await makeRoom(options);
  if (options.judge.length > 0) return again(options);
  if (options.addUp.length > 0) return sum(options);
  const machine = readMachine(process.env['RUN_FILE']);
  if (options.mutants !== null) return gate(machine, options.mutants, options.allLayers);
  const cases =
    options.replay === null ? await chosenCases(options) : [caseAgain(await readFile(options.replay, 'utf8'))];
  if (!options.list) return run(cases, machine, options);
  for (const { layer, name } of cases) say(`${layer} ${name}`);
  for (const story of waiting) say(`L4 ${story}`);
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
