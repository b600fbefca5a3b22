import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { FaultCase } from './case.js';
import { caseAgain, chosenCases } from './layers.js';
import { type Machine, readMachine } from './machine.js';
import { runGate } from './mutations/gate.js';
import { type Options, readOptions, usage } from './options.js';
import type { RunReport } from './report/run-report.js';
import { runCases } from './run-cases.js';

const say = (line: string) => void process.stdout.write(`${line}\n`);

/** Writes where it is asked to, and always beside what failed cases left. */
async function write(run: RunReport, dir: string, options: Options): Promise<void> {
  const json = `${JSON.stringify(run, null, 2)}\n`;
  const files = [
    [path.join(dir, 'report.json'), json],
    [options.json, json],
  ] as const;
  for (const [file, content] of files) if (file !== null) await writeFile(file, content);
  say(`report: ${path.relative(process.cwd(), path.join(dir, 'report.json'))}`);
}

async function run(cases: readonly FaultCase[], machine: Machine, options: Options): Promise<boolean> {
  const startedAt = Date.now();
  const dir = path.join(machine.stateDir, 'runs', new Date(startedAt).toISOString().replaceAll(':', '-'));
  await mkdir(dir, { recursive: true });
  say(`faults: ${cases.length} cases, seed ${options.seed}`);
  const until = options.minutes === null ? null : startedAt + options.minutes * 60_000;
  const reports = await runCases(cases, { machine, dir, workers: options.workers, until, say, signal: aborted() });
  const seconds = (Date.now() - startedAt) / 1_000;
  const report: RunReport = { startedAt, seconds, seed: options.seed, commit: machine.commit, options, cases: reports };
  await write(report, dir, options);
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

async function main(options: Options): Promise<boolean> {
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
