import { misbehaviours } from './behaviours.js';
import { faultKinds } from './fault-kinds.js';
import type { Random } from './random.js';
import { type ToolKind, toolKinds } from './tools.js';

/**
 * What can go wrong in this round. Each has a part only of all there is (swarm testing, Groce et al. 2012): where
 * everything breaks at once, faults hide each other, and states that need some time of quiet are never reached.
 */
export interface Profile {
  readonly faults: readonly string[];
  readonly tools: readonly ToolKind[];
  readonly misbehaviours: readonly string[];
  /** Of the intents, those whose upstream misbehaves. */
  readonly misbehaving: number;
  readonly faultsPerMinute: number;
}

export function planProfile(seed: number, random: Random): Profile {
  const some = random.some(misbehaviours, 0.6);
  const misbehaviour = {
    misbehaviours: some.length > 0 ? some : misbehaviours,
    misbehaving: random.pick([0.2, 0.4, 0.6]),
  };
  if (seed % 2 === 0) {
    const faults = faultKinds.filter(() => random.chance(0.4));
    return { faults, tools: toolKinds, ...misbehaviour, faultsPerMinute: random.pick([30, 50, 80]) };
  }
  // Every second round has few kinds, by turns, and few tools, so that each of them comes often somewhere.
  const turn = Math.floor(seed / 2) * few;
  const faults = Array.from({ length: few }, (_, n) => faultKinds[(turn + n) % faultKinds.length] as string);
  const tools = random.some(toolKinds, 0.4);
  return {
    ...{ faults, tools: tools.length > 0 ? tools : toolKinds },
    ...misbehaviour,
    faultsPerMinute: random.pick([80, 120]),
  };
}

/** Of a round with few kinds of faults, which then come again and again. */
const few = 4;
