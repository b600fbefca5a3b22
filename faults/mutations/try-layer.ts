import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { CaseReport } from '../case.js';
import type { Machine } from '../machine.js';
import { lastLines } from './mutated-tree.js';
import { type GateLayer, judge, type Trial } from './trial.js';

/** Rounds that a mutant has to be caught within. */
export const roundsAtMost = 8;
const firstSeed = 1;
/** Rounds at the same time; two are what two cores carry. */
const workers = 2;
/** The short part of the rules takes seconds and is broad; that of races and points is a small part of what there is. */
const sizeOf: Readonly<Record<GateLayer, readonly string[]>> = {
  L0: ['--short'],
  L1: ['--short'],
  L2: [],
  L3: [],
  L5: ['--rounds', String(roundsAtMost), '--workers', String(workers)],
};
/** A layer that takes longer hangs, and is ended. */
const limitMs: Readonly<Record<GateLayer, number>> = {
  L0: 120_000,
  L1: 240_000,
  L2: 600_000,
  L3: 2_400_000,
  L5: 2_400_000,
};
/** For a rig that is told to stop, to end its servers. */
const graceMs = 30_000;

export interface Tree {
  /** Root of a built copy. */
  readonly dir: string;
  /** Where the report goes of what is not as it should be, with `<layer>.json` appended. */
  readonly evidence: string;
  /** As the rig of the copy is to see it. */
  readonly machine: Machine;
  readonly signal: AbortSignal;
}

/** Runs one layer of the copy's own rig; the same cases and seeds for every copy. */
export async function tryLayer(layer: GateLayer, tree: Tree): Promise<Trial> {
  const { dir, machine, signal } = tree;
  const args = ['--layers', layer, '--seed', String(firstSeed), '--fail-fast', ...sizeOf[layer]];
  const runFile = path.join(dir, 'run.json');
  const report = path.join(dir, 'report.json');
  await writeFile(runFile, JSON.stringify(machine), { mode: 0o600 });
  await rm(report, { force: true });
  const startedAt = performance.now();
  const limit = AbortSignal.timeout(limitMs[layer]);
  const said = await output(['--enable-source-maps', 'dist/faults/main.js', ...args, '--json', report], {
    cwd: dir,
    env: { ...process.env, RUN_FILE: runFile },
    signal: AbortSignal.any([signal, limit]),
  });
  signal.throwIfAborted();
  const seconds = (performance.now() - startedAt) / 1_000;
  const cases = await casesOf(report);
  if (cases !== null) {
    const trial = judge(cases, seconds);
    if (trial.result !== 'held') await copyFile(report, `${tree.evidence}${layer}.json`);
    return trial;
  }
  const why = limit.aborted ? `it did not end within ${limitMs[layer] / 1_000} s` : 'it wrote no report';
  return { result: 'broken', why: `${why}: ${lastLines(said)}`, cases: 0, seconds };
}

interface Process {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

/** What it said, once it has ended: by itself, or because of the signal. */
async function output(args: readonly string[], { signal, ...options }: Process): Promise<string> {
  const child = spawn(process.execPath, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let last: NodeJS.Timeout | undefined;
  // The rig ends what it has started when it is told to stop.
  const stop = () => {
    child.kill('SIGTERM');
    last = setTimeout(() => child.kill('SIGKILL'), graceMs);
  };
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop, { once: true });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-20_000)));
  }
  await once(child, 'close');
  clearTimeout(last);
  signal.removeEventListener('abort', stop);
  return said;
}

/** Null where there is no whole report. */
async function casesOf(file: string): Promise<readonly CaseReport[] | null> {
  try {
    return (JSON.parse(await readFile(file, 'utf8')) as { cases: readonly CaseReport[] }).cases;
  } catch {
    return null;
  }
}
