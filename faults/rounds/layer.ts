import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { CaseContext, CaseReport, FaultCase, LayerOfCases, Replay } from '../case.js';
import { check } from '../checker/check.js';
import { reached } from '../history/dangerous-states.js';
import type { FaultEntry } from '../history/faults.js';
import type { History } from '../history/history.js';
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
  const fixed = { name, layer: 'L5', seed: plan.seed, replay: { plan } } as const;
  const secondsSoFar = () => (performance.now() - begun) / 1_000;
  try {
    const { history, violations: seen, problems } = await runRound({ plan, machine, dir, signal, say });
    for (const problem of problems) say(`could not break as planned: ${problem}`);
    const violations = [...seen, ...check(history)];
    if (violations.length > 0) await keep(dir, history);
    return {
      ...{ ...fixed, violations, seconds: secondsSoFar(), intents: history.database.intents.length },
      ...{
        faults: countFaults(history.faults),
        reached: reached(history),
        figures: figuresOf(history, problems.length),
      },
    };
  } catch (error) {
    const broken = error instanceof Error ? error.message : String(error);
    const nothing = { violations: [], intents: 0, faults: {}, reached: {}, figures: {} };
    return { ...fixed, ...nothing, broken, seconds: secondsSoFar() };
  }
}

/** What the verdict rests on, to be looked at, and judged again when the checker knows more. */
async function keep(dir: string, history: History): Promise<void> {
  await writeFile(path.join(dir, 'history.json'), JSON.stringify(history));
}

function countFaults(faults: readonly FaultEntry[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { kind, phase, happened } of faults) {
    if (phase === 'begin' && happened !== false) counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

function figuresOf({ ledger, clients, meta, database }: History, problems: number): Record<string, number> {
  const lines = (kind: string) => ledger.filter((line) => line.kind === kind).length;
  return {
    requests: lines('request'),
    effects: lines('effect'),
    lookups: lines('lookup'),
    clientRequests: clients.filter(({ phase }) => phase === 'invoke').length,
    events: database.events.length,
    secondsToRest: (meta.frozenAt - meta.healedAt) / 1_000,
    faultsNotCarriedOut: problems,
  };
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
