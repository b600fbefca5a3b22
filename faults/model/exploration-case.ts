import { decide, type Guarantee } from '@intendant/intent';
import type { CaseContext, CaseReport, FaultCase } from '../case.js';
import type { Violation } from '../history/violation.js';
import { explore } from './explore.js';
import type { Bounds } from './world.js';

export function explorationCase(guarantee: Guarantee, all: readonly Bounds[]): FaultCase {
  const name = `exploration ${guarantee}`;
  return { name, layer: 'L1', run: (context) => exploreAll(name, guarantee, all, context) };
}

async function exploreAll(
  name: string,
  guarantee: Guarantee,
  all: readonly Bounds[],
  { say, signal }: CaseContext,
): Promise<CaseReport> {
  const startedAt = performance.now();
  const violations: Violation[] = [];
  const reached: Record<string, number> = {};
  const figures = { states: 0, steps: 0, intents: 0, depth: 0 };
  let broken: string | null = null;
  for (const bounds of all) {
    const explored = await explore(decide, bounds, signal);
    const { states, steps, intents, depth, violation, whole } = explored;
    say(`${bounds.name} (${limitsOf(bounds)}): ${states} states, ${steps} steps, ${depth} deep`);
    figures.states += states;
    figures.steps += steps;
    figures.intents += intents;
    figures.depth = Math.max(figures.depth, depth);
    for (const [state, times] of Object.entries(explored.reached)) reached[state] = (reached[state] ?? 0) + times;
    if (violation) violations.push(violation);
    if (!whole) broken = `stopped after ${states} states of "${bounds.name}"`;
  }
  return {
    name,
    layer: 'L1',
    violations,
    ...(broken === null ? {} : { broken }),
    seed: 0,
    seconds: (performance.now() - startedAt) / 1000,
    intents: all.length,
    faults: {},
    reached,
    figures,
    replay: { guarantee, bounds: all.map((bounds) => bounds.name) },
  };
}

function limitsOf({ horizon, attempts, processing, lookupLag, skew, terms }: Bounds): string {
  return [
    '2 dispatchers',
    '2 reconcilers',
    `${attempts} attempts`,
    `${horizon} ticks`,
    `lease ${terms.leaseMs}`,
    `settle ${terms.settleMs}`,
    `processing ${processing}`,
    `lookup lag ${lookupLag}`,
    `clock skew ${skew}`,
  ].join(', ');
}
