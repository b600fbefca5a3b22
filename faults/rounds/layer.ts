import type { CaseContext, CaseReport, FaultCase, LayerOfCases, Replay } from '../case.js';
import { judge, keep } from './kept-round.js';
import { planRound, type RoundPlan } from './plan.js';
import { runRound } from './round.js';

/** L5: random rounds. A case decides what it does when it knows the machine: an old nats-server is not everywhere. */
export const rounds: LayerOfCases = {
  layer: 'L5',
  title: 'random rounds on a whole installation: load and faults, then a heal, then rest',
  cases: async ({ seed, rounds, short }) => Array.from({ length: rounds }, (_, n) => ofSeed(seed + n, short)),
  named: (name) => {
    const [, seed] = /^round (\d+)$/.exec(name) ?? [];
    return seed === undefined ? null : ofSeed(Number(seed), false);
  },
  again: (replay) => {
    const plan = planIn(replay);
    return caseOf(plan.seed, () => plan);
  },
};

function ofSeed(seed: number, short: boolean): FaultCase {
  return caseOf(seed, ({ oldNats }) => planRound(seed, { short, shape: { oldNats: oldNats !== null } }));
}

function caseOf(seed: number, planFor: (machine: CaseContext['machine']) => RoundPlan): FaultCase {
  const name = `round ${seed}`;
  return { name, layer: 'L5', run: (context) => runCase(name, planFor(context.machine), context) };
}

async function runCase(name: string, plan: RoundPlan, context: CaseContext): Promise<CaseReport> {
  const begun = performance.now();
  const { machine, dir, signal, say } = context;
  const secondsSoFar = () => (performance.now() - begun) / 1_000;
  try {
    const round = await runRound({ plan, machine, dir, signal, say });
    for (const problem of round.problems) say(`could not break as planned: ${problem}`);
    const kept = { ...round, plan, seconds: secondsSoFar() };
    await keep(dir, kept);
    return judge(kept);
  } catch (error) {
    const broken = error instanceof Error ? error.message : String(error);
    const nothing = { violations: [], intents: 0, faults: {}, reached: {}, figures: {} };
    return { ...{ name, layer: 'L5', seed: plan.seed, replay: { plan } }, ...nothing, broken, seconds: secondsSoFar() };
  }
}

/** @throws when it is not the replay of a round */
function planIn(replay: Replay): RoundPlan {
  const plan = replay['plan'] as Partial<RoundPlan> | undefined;
  if (typeof plan?.seed !== 'number' || !Array.isArray(plan.intents) || !Array.isArray(plan.faults)) {
    throw new TypeError(
      'this is not the replay of a random round: it has no "plan" with "seed", "intents" and "faults"',
    );
  }
  return plan as RoundPlan;
}
