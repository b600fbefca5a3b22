import { type CaseReport, type Layer, layers } from '../case.js';
import { dangerousStates } from '../history/dangerous-states.js';
import type { Violation } from '../history/violation.js';
import type { RunReport } from './run-report.js';

export interface LayerSummary {
  readonly layer: Layer;
  readonly cases: number;
  readonly intents: number;
  readonly seconds: number;
  readonly violations: number;
  readonly broken: number;
  /** Further figures of the layer, added up. */
  readonly figures: readonly Count[];
}

export interface Count {
  readonly name: string;
  readonly count: number;
}

export interface StateCount extends Count {
  /** Null where the name is not known here: it is of another version of the rig. */
  readonly meaning: string | null;
}

/** What all reports say of a run, in numbers. */
export interface Summary {
  readonly layers: readonly LayerSummary[];
  readonly cases: number;
  readonly notRun: number;
  /** Random rounds. */
  readonly rounds: number;
  readonly intents: number;
  readonly violations: number;
  /** By rule, most first. */
  readonly rules: readonly Count[];
  /** By kind, most first. */
  readonly faults: readonly Count[];
  /** Every state there is, most first; where no case counts them at all, none. */
  readonly states: readonly StateCount[];
  readonly notTested: readonly StateCount[];
  readonly failed: readonly CaseReport[];
  readonly broken: readonly CaseReport[];
}

export function summaryOf({ cases, notRun = 0 }: RunReport): Summary {
  const states = statesOf(cases);
  return {
    layers: layers.flatMap((layer) => layerOf(layer, cases)),
    cases: cases.length,
    notRun,
    rounds: cases.filter(({ layer }) => layer === 'L5').length,
    intents: sum(cases.map(({ intents }) => intents)),
    violations: sum(cases.map(({ violations }) => violations.length)),
    rules: mostFirst(
      added(cases.flatMap(({ violations }) => violations.map(({ rule }: Violation) => ({ [rule]: 1 })))),
    ),
    faults: mostFirst(added(cases.map(({ faults }) => faults))),
    states,
    notTested: states.filter(({ count }) => count === 0),
    failed: cases.filter(({ violations }) => violations.length > 0),
    broken: cases.filter(({ broken }) => broken !== undefined),
  };
}

/** What runs exactly that case again. */
export function commandOf({ replayFile, name, seed }: CaseReport): string {
  if (replayFile !== undefined) return `npm run faults -- --replay ${quoted(replayFile)}`;
  return `npm run faults -- --case ${quoted(name)} --seed ${seed}`;
}

function quoted(word: string): string {
  return /^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function layerOf(layer: Layer, all: readonly CaseReport[]): LayerSummary[] {
  const cases = all.filter((each) => each.layer === layer);
  if (cases.length === 0) return [];
  return [
    {
      layer,
      cases: cases.length,
      intents: sum(cases.map(({ intents }) => intents)),
      seconds: sum(cases.map(({ seconds }) => seconds)),
      violations: sum(cases.map(({ violations }) => violations.length)),
      broken: cases.filter(({ broken }) => broken !== undefined).length,
      figures: mostFirst(added(cases.map(({ figures }) => figures))),
    },
  ];
}

function statesOf(cases: readonly CaseReport[]): StateCount[] {
  const reached = added(cases.map((each) => each.reached));
  if (reached.size === 0) return [];
  const meanings = new Map(dangerousStates.map(({ name, meaning }) => [name, meaning]));
  for (const name of meanings.keys()) if (!reached.has(name)) reached.set(name, 0);
  return mostFirst(reached).map((each) => ({ ...each, meaning: meanings.get(each.name) ?? null }));
}

function added(counts: readonly Readonly<Record<string, number>>[]): Map<string, number> {
  const total = new Map<string, number>();
  for (const each of counts) {
    for (const [name, count] of Object.entries(each)) total.set(name, (total.get(name) ?? 0) + count);
  }
  return total;
}

function mostFirst(counts: ReadonlyMap<string, number>): Count[] {
  return [...counts]
    .map(([name, count]) => ({ name, count }))
    .sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
