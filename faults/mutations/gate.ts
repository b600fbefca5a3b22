import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Machine } from '../machine.js';
import { root } from '../rig/root.js';
import { type GateRow, isAsItShouldBe, tableOf, unmutated } from './gate-table.js';
import { type Mutant, readMutants } from './mutants.js';
import { makeTree } from './mutated-tree.js';
import { type GateLayer, gateLayers, type Trial } from './trial.js';
import { tryLayer } from './try-layer.js';

export interface GateOptions {
  readonly machine: Machine;
  /** Of mutants, `unmutated` among them; `all` for every one. */
  readonly names: readonly string[];
  /** Whether every layer tries every mutant, instead of stopping at the first that catches it. */
  readonly allLayers: boolean;
  say(line: string): void;
  /** Aborted when the run is to end. */
  readonly signal: AbortSignal;
}

export interface GateResult {
  /** Of this run and of earlier ones. */
  readonly rows: readonly GateRow[];
  /** Whether each mutant of this run was caught, and nothing was found in the sources as they are. */
  readonly passed: boolean;
  /** Of all rows, in Markdown, for docs/fault-testing.md. */
  readonly table: string;
  /** Where the rows are kept. */
  readonly file: string;
}

/**
 * Plants each bug in a copy of the sources and lets the copy's own rig look for it, from the cheapest layer to the dearest.
 * Rows of earlier runs are kept, so that a long gate can be run in parts.
 *
 * @throws when there is no mutant of that name, or the signal is aborted
 */
export async function runGate({ machine, names, allLayers, say, signal }: GateOptions): Promise<GateResult> {
  const home = path.join(machine.stateDir, 'mutants');
  const file = path.join(home, 'gate.json');
  await mkdir(home, { recursive: true });
  const mutants = readMutants(path.join(root, 'faults', 'mutations'));
  const fresh: GateRow[] = [];
  let rows: readonly GateRow[] = [];
  for (const mutant of chosen(mutants, names)) {
    const name = mutant?.name ?? unmutated;
    const dir = path.join(home, 'tree');
    const trials: Partial<Record<GateLayer, Trial>> = {};
    say(`${name}: ${mutant?.plants ?? 'the sources as they are.'}`);
    await makeTree(root, dir, mutant, signal);
    const evidence = path.join(home, `${name}.`);
    const tree = { dir, evidence, machine: { ...machine, stateDir: path.join(dir, 'state') }, signal };
    for (const layer of gateLayers) {
      const trial = await tryLayer(layer, tree);
      trials[layer] = trial;
      say(`  ${layer} ${tell(trial)}`);
      if (trial.result === 'caught' && !allLayers) break;
    }
    fresh.push({ name, commit: machine.commit, trials });
    rows = inOrder([...(await earlier(file)), ...fresh], mutants);
    await writeFile(file, `${JSON.stringify(rows, null, 2)}\n`);
  }
  return { rows, passed: fresh.every(isAsItShouldBe), table: tableOf(rows), file };
}

/** Null stands for the sources as they are, which come first. */
function chosen(mutants: readonly Mutant[], names: readonly string[]): readonly (Mutant | null)[] {
  if (names.includes('all')) return [null, ...mutants];
  return names.map((name) => {
    if (name === unmutated) return null;
    const mutant = mutants.find((each) => each.name === name);
    if (mutant) return mutant;
    const known = [unmutated, ...mutants.map((each) => each.name)].join(', ');
    throw new Error(`--mutants: there is no mutant ${name}; there are ${known}`);
  });
}

async function earlier(file: string): Promise<readonly GateRow[]> {
  return existsSync(file) ? (JSON.parse(await readFile(file, 'utf8')) as GateRow[]) : [];
}

/** The last row of each name that there still is. */
function inOrder(rows: readonly GateRow[], mutants: readonly Mutant[]): GateRow[] {
  const last = new Map(rows.map((row) => [row.name, row]));
  return [unmutated, ...mutants.map(({ name }) => name)].flatMap((name) => last.get(name) ?? []);
}

function tell(trial: Trial): string {
  const effort = `${trial.cases} cases, ${trial.seconds.toFixed(1)} s`;
  switch (trial.result) {
    case 'caught':
      return `caught by ${trial.rules.join(', ')} (${effort}): ${trial.message}`;
    case 'held':
      return `found nothing (${effort})`;
    case 'broken':
      return `could not run (${effort}): ${trial.why}`;
  }
}
