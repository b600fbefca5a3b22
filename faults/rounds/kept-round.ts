import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { CaseReport } from '../case.js';
import { check } from '../checker/check.js';
import { reached } from '../history/dangerous-states.js';
import type { FaultEntry } from '../history/faults.js';
import type { History } from '../history/history.js';
import type { RoundPlan } from './plan.js';
import type { Round } from './round.js';

/** Everything that the verdict on a round rests on: it can be judged again when the checker knows more. */
export interface KeptRound extends Round {
  readonly plan: RoundPlan;
  /** What it took. */
  readonly seconds: number;
}

/** In the directory of its case; it stays there when the case held, too. */
export const keptFile = 'round.json.gz';

export async function keep(dir: string, round: KeptRound): Promise<void> {
  await writeFile(path.join(dir, keptFile), await promisify(gzip)(JSON.stringify(round)));
}

/** @throws when the file is not one that `keep` wrote */
export async function readKept(file: string): Promise<KeptRound> {
  try {
    return JSON.parse((await promisify(gunzip)(await readFile(file))).toString('utf8')) as KeptRound;
  } catch (error) {
    throw new Error(`${file} is no round that was kept: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** A request that the rig itself holds up for longer breaks what tool files declare, in ms. */
const latestMs = 2_000;

/** What a round that the rig held up is found guilty of proves nothing; what it held out nevertheless, it held out. */
export function judge(round: KeptRound): CaseReport {
  const report = judgeAsItWas(round);
  const { rigMs, upstreamMs } = round.late ?? { rigMs: 0, upstreamMs: 0 };
  const [first] = report.violations;
  if (first === undefined || Math.max(rigMs, upstreamMs) <= latestMs) return report;
  const held = `the rig was held up for ${Math.round(rigMs)} ms and its upstream for ${Math.round(upstreamMs)} ms`;
  const found = `${report.violations.length} findings, such as ${first.rule}: ${first.message}`;
  return {
    ...report,
    violations: [],
    broken: `${held}, since this machine had too much else to do; not counted: ${found}`,
  };
}

function judgeAsItWas({ plan, history, violations: seen, problems, seconds }: KeptRound): CaseReport {
  return {
    ...{ name: `round ${plan.seed}`, layer: 'L5', seed: plan.seed, replay: { plan }, seconds },
    violations: [...seen, ...check(history)],
    intents: history.database.intents.length,
    faults: countFaults(history.faults),
    reached: reached(history),
    figures: figuresOf(history, problems.length),
  };
}

/** The rounds that a run kept, judged by the present rules, and what it told of cases that left nothing to judge. */
export async function judgeAgain(
  dir: string,
  cases: readonly CaseReport[],
): Promise<{ readonly cases: CaseReport[]; readonly judged: number }> {
  const judged = new Map<string, CaseReport>();
  for (const entry of await readdir(dir)) {
    const file = path.join(dir, entry, keptFile);
    if (!existsSync(file)) continue;
    const report = judge(await readKept(file));
    judged.set(report.name, report);
  }
  return {
    cases: cases.map((each) => judged.get(each.name) ?? each),
    judged: cases.filter(({ name }) => judged.has(name)).length,
  };
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
  const recorded = database.events.filter(({ version }) => version === 1);
  return {
    requests: lines('request'),
    effects: lines('effect'),
    lookups: lines('lookup'),
    clientRequests: clients.filter(({ phase }) => phase === 'invoke').length,
    events: database.events.length,
    recordedBeforeTheHeal: recorded.filter(({ committedAt }) => committedAt < meta.healedAt).length,
    secondsToRest: (meta.frozenAt - meta.healedAt) / 1_000,
    faultsNotCarriedOut: problems,
  };
}
