import { misbehaviours } from './behaviours.js';
import { faultKinds } from './fault-kinds.js';
import type { Random } from './random.js';

/**
 * What can go wrong in this round. Each has a part only of all there is (swarm testing, Groce et al. 2012): where
 * everything breaks at once, faults hide each other, and states that need some time of quiet are never reached.
 */
export interface Profile {
  readonly faults: readonly string[];
  readonly misbehaviours: readonly string[];
  /** Of the intents, those whose upstream misbehaves. */
  readonly misbehaving: number;
  readonly faultsPerMinute: number;
}

export function planProfile(seed: number, random: Random): Profile {
  const faults = faultsOf(seed, random);
  const some = random.some(misbehaviours, 0.6);
  return {
    faults,
    misbehaviours: some.length > 0 ? some : misbehaviours,
    misbehaving: random.pick([0.2, 0.4, 0.6]),
    faultsPerMinute: random.pick([30, 50, 80]),
  };
}

/** Of a round with few kinds, which then come again and again. */
const few = 4;

/** Every second round has few kinds, by turns, so that each of them comes often somewhere; the others have many, by chance. */
function faultsOf(seed: number, random: Random): readonly string[] {
  if (seed % 2 === 0) return faultKinds.filter(() => random.chance(0.4));
  const turn = Math.floor(seed / 2) * few;
  return Array.from({ length: few }, (_, n) => faultKinds[(turn + n) % faultKinds.length] as string);
}
