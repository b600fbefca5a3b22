import fc from 'fast-check';
import type { Violation } from '../history/violation.js';
import { Broken } from './broken.js';
import { begin, type Property, type Trial } from './properties.js';
import type { Simulation } from './simulation.js';
import type { Decide } from './step.js';

export interface Tried {
  readonly lives: number;
  /** In how many lives each dangerous state came about. */
  readonly reached: Readonly<Record<string, number>>;
  readonly found: { readonly violation: Violation; readonly seed: number; readonly path: string } | null;
}

/** Random lives, and the shortest found that breaks the property. With `path`, that one again. */
export function tryProperty(
  property: Property,
  decide: Decide,
  options: { readonly seed: number; readonly lives: number; readonly path?: string },
): Tried {
  const reached: Record<string, number> = {};
  const live = (trial: Trial) => {
    const simulation = begin(decide, trial);
    property.live(trial, simulation);
    for (const state of simulation.reached) reached[state] = (reached[state] ?? 0) + 1;
  };
  const { seed, lives, path } = options;
  const again = path === undefined ? {} : { path, endOnFailure: true };
  const result = fc.check(fc.property(property.trials, live), { seed, numRuns: lives, ...again });
  if (!result.failed) return { lives: result.numRuns, reached, found: null };
  if (!result.counterexample) throw new Error(`the property "${property.name}" could not be tried`);
  const [trial] = result.counterexample;
  const violation = violationOf(property, decide, trial);
  return { lives: result.numRuns, reached, found: { violation, seed, path: result.counterexamplePath ?? '' } };
}

/** The life once more, this time to be told. */
function violationOf(property: Property, decide: Decide, trial: Trial): Violation {
  let simulation: Simulation | null = null;
  try {
    simulation = begin(decide, trial);
    property.live(trial, simulation);
  } catch (error) {
    if (!(error instanceof Broken)) throw error;
    const { terms, expiresAt } = trial.life;
    const declared = { at: 0, who: 'tool file', what: `${JSON.stringify(terms)}, authority ends at ${expiresAt}` };
    const timeline = [declared, ...(simulation?.story ?? [])];
    return { rule: error.rule, message: error.message, intentId: null, timeline };
  }
  throw new Error(`the property "${property.name}" broke once and held the second time`);
}
