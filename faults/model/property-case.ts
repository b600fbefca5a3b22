import { setImmediate as turn } from 'node:timers/promises';
import { decide } from '@intendant/intent';
import type { CaseContext, CaseReport, FaultCase } from '../case.js';
import type { Property } from './properties.js';
import { type Tried, tryProperty } from './try-property.js';

/** Lives between two looks at whether the run is to end; each lot has a seed of its own. */
const lot = 500;

/** `path`: of one life that broke the property before. */
export interface PropertyRun {
  readonly seed: number;
  readonly lives: number;
  readonly path?: string;
}

export function propertyCase(property: Property, run: PropertyRun): FaultCase {
  return {
    name: property.name,
    layer: 'L0',
    run: (context) => tryAll(property, run, context),
  };
}

async function tryAll(property: Property, run: PropertyRun, { signal }: CaseContext): Promise<CaseReport> {
  const startedAt = performance.now();
  const reached: Record<string, number> = {};
  let lives = 0;
  let found: Tried['found'] = null;
  for (let seed = run.seed; lives < run.lives && !found && !signal.aborted; seed += 1) {
    const tried = tryProperty(property, decide, { ...run, seed, lives: Math.min(lot, run.lives - lives) });
    lives += tried.lives;
    found = tried.found;
    for (const [state, times] of Object.entries(tried.reached)) reached[state] = (reached[state] ?? 0) + times;
    await turn();
  }
  return {
    name: property.name,
    layer: 'L0',
    violations: found ? [found.violation] : [],
    ...(lives < run.lives && !found ? { broken: `stopped after ${lives} of ${run.lives} lives` } : {}),
    seed: run.seed,
    seconds: (performance.now() - startedAt) / 1000,
    intents: lives,
    faults: {},
    reached,
    figures: { lives },
    replay: found
      ? { property: property.name, seed: found.seed, path: found.path, lives: lot }
      : { property: property.name, seed: run.seed, lives: run.lives },
  };
}
