import type { DangerousState } from './evidence.js';
import type { History } from './history.js';
import { statesOfAnswers } from './states-of-answers.js';
import { statesOfAttempts } from './states-of-attempts.js';
import { statesOfOutages } from './states-of-outages.js';
import { outagesOf, tracesOf } from './traces.js';

export const dangerousStates: readonly DangerousState[] = [...statesOfAttempts, ...statesOfAnswers, ...statesOfOutages];

/** How often each dangerous state was really reached; those that were not are there with 0. */
export function reached(history: History): Record<string, number> {
  const evidence = { history, traces: tracesOf(history), outages: outagesOf(history.faults) };
  return Object.fromEntries(dangerousStates.map((state) => [state.name, state.count(evidence)]));
}
