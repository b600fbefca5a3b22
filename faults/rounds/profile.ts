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
  // Two kinds by turns, so that after a few dozen rounds each was there often; the others by chance.
  const turn = [0, 1].map((n) => faultKinds[(seed * 2 + n) % faultKinds.length] as string);
  const faults = faultKinds.filter((kind) => turn.includes(kind) || random.chance(0.4));
  const some = random.some(misbehaviours, 0.6);
  return {
    faults,
    misbehaviours: some.length > 0 ? some : misbehaviours,
    misbehaving: random.pick([0.2, 0.4, 0.6]),
    faultsPerMinute: random.pick([30, 50, 80]),
  };
}
