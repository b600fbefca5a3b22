import type { Rule } from '../../examples/upstream/behaviour.js';
import type { Topology } from '../rig/installation.js';
import type { PlannedFault } from './fault-kinds.js';
import { planFaults } from './plan-faults.js';
import { type PlannedIntent, type PlannedRun, planLoad } from './plan-load.js';
import { type Permanent, planTopology, type Shape } from './plan-topology.js';
import { type Profile, planProfile } from './profile.js';
import { Random } from './random.js';
import { pathOf } from './tools.js';

/** Everything about a random round that is decided beforehand; JSON, and with it the round can be run again. */
export interface RoundPlan {
  readonly seed: number;
  /** How long agents begin new intents and things are broken, in ms. */
  readonly loadMs: number;
  readonly profile: Profile;
  readonly topology: Topology;
  readonly permanent: Permanent | null;
  readonly runs: readonly PlannedRun[];
  readonly intents: readonly PlannedIntent[];
  /** In the order of their time. */
  readonly faults: readonly PlannedFault[];
  /** What the upstream does with whatever nothing else was ordered for, also after the heal. */
  readonly standing: readonly Rule[];
}

/** `keyRetention` of faults/tools/short.tool.yaml: that upstream remembers a key no longer than it says, in ms. */
export const shortRetentionMs = 12_000;

export interface PlanOptions {
  readonly short: boolean;
  /** What the machine offers. */
  readonly shape: Shape;
}

export function planRound(seed: number, { short, shape }: PlanOptions): RoundPlan {
  const random = new Random(seed);
  const loadMs = short ? 18_000 : random.whole(36_000, 48_000);
  const profile = planProfile(seed, random.fork());
  const { topology, permanent } = planTopology(random.fork(), shape);
  const { runs, intents } = planLoad(random.fork(), {
    seed,
    loadMs,
    profile,
    count: short ? 160 : random.whole(450, 900),
  });
  const faults = planFaults(random.fork(), { loadMs, profile, topology });
  const parts: Rule = {
    match: { path: pathOf('parts') },
    times: 'always',
    behaviour: { parts: { done: 3, of: 3 } },
  };
  const forgetful: Rule = {
    match: { path: pathOf('short') },
    times: 'always',
    behaviour: { forgetKeyAfterMs: shortRetentionMs },
  };
  return {
    seed,
    loadMs,
    profile,
    topology,
    permanent,
    runs,
    intents,
    faults,
    standing: [parts, forgetful, ...standingOf(permanent)],
  };
}

function standingOf(permanent: Permanent | null): Rule[] {
  if (permanent?.kind !== 'silent_lookups') return [];
  return [{ match: { path: pathOf(permanent.tool) }, times: 'always', behaviour: { lookup: permanent.answer } }];
}
