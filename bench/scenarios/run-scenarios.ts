import { backlog } from './backlog.js';
import { growth } from './growth.js';
import { hangingUpstream } from './hanging-upstream.js';
import { memory } from './memory.js';
import { mixed } from './mixed.js';
import { overload } from './overload.js';
import { replicas } from './replicas.js';
import { runs } from './runs.js';
import type { Around, Outcome, Scenario } from './scenario.js';
import { slowUpstream } from './slow-upstream.js';
import { cell, tableLines } from './table.js';
import { tools } from './tools.js';

const all: readonly Scenario[] = [
  slowUpstream,
  hangingUpstream,
  mixed,
  runs,
  tools,
  replicas,
  memory,
  backlog,
  overload,
  growth,
];

/** Figures of each scenario by name, as they go into the JSON file. */
export type Outcomes = Readonly<Record<string, Outcome>>;

/** @throws with a message for the user when a name is not known */
export function chosenScenarios(names: readonly string[]): readonly Scenario[] {
  const known = all.map(({ name }) => name);
  const unknown = names.find((name) => name !== 'all' && !known.includes(name));
  if (unknown !== undefined) throw new Error(`--scenario ${unknown}: all, or some of ${known.join(', ')}`);
  return names.includes('all') ? all : all.filter(({ name }) => names.includes(name));
}

/** Runs one after the other and prints each as soon as it is done. One that cannot go on does not stop the others. */
export async function runScenarios(scenarios: readonly Scenario[], around: Around): Promise<Outcomes> {
  const outcomes: Record<string, Outcome> = {};
  for (const scenario of scenarios) {
    around.say(`${scenario.name}: ${scenario.about}`);
    const from = performance.now();
    const outcome = await scenario.run(around).catch((error: Error): Outcome => {
      return { rows: [], verdicts: [], faults: [error.stack ?? error.message], notes: [] };
    });
    outcomes[scenario.name] = outcome;
    const seconds = (performance.now() - from) / 1000;
    around.say(`\n${[...outcomeLines(outcome), `  took ${seconds.toFixed(0)} s`].join('\n')}\n`);
  }
  return outcomes;
}

export function outcomeLines({ rows, verdicts, faults, notes }: Outcome): string[] {
  const judged = verdicts.map(
    ({ what, value, target, holds }) => `${holds ? 'reached' : 'MISSED '}  ${what}: ${cell(value)}, target ${target}`,
  );
  return [...tableLines(rows), ...notes, ...judged, ...faults.map((fault) => `FAULT    ${fault}`)].map(
    (line) => `  ${line}`,
  );
}
