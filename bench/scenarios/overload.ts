import type { PhaseResult } from '../open-loop.js';
import { quantile } from '../statistics.js';
import type { Arrived } from './faults.js';
import { Resident } from './resident.js';
import { type Around, atMost, type Mode, type Outcome, type Row, type Scenario, type Verdict } from './scenario.js';
import { Stage } from './stage.js';

const warmUp = 2_000;
/** Whoever waits is told within the 10 s it waits for; whoever is turned away is to be told much sooner. */
const answerBoundMs = 2_000;
const memoryBound = 1.2;
/** A second of the recovery is normal when its p99 is at most this times the worst second of the same load before. */
const normalBound = 1.5;
const recoveryBound = 2;

/** Twice what the system can do, then half of it again. */
export const overload: Scenario = {
  name: 'overload',
  about: 'open loop at twice the capacity, then at half of it',
  async run(around: Around): Promise<Outcome> {
    const rows: Row[] = [];
    const verdicts: Verdict[] = [];
    const faults: string[] = [];
    for (const mode of around.modes) {
      await requests(around, mode, { rows, verdicts, faults });
      await publications(around, mode, { rows, verdicts, faults });
    }
    const notes = [
      `Capacity is the closed loop with ${around.concurrency} in flight, just before, on the same processes.`,
      'Recovered: the first second at half load whose p99 is at most 1.5 × that of the worst second of the same load before; 0 is at once.',
      'Memory is the greatest of the second half of the time over that of the first, of the process that grew most.',
      'Publications are answered by JetStream and wait there; recovered is when the last of them has settled.',
    ];
    return { rows, verdicts, faults, notes };
  },
};

interface Findings {
  readonly rows: Row[];
  readonly verdicts: Verdict[];
  readonly faults: string[];
}

async function requests(around: Around, mode: Mode, { rows, verdicts, faults }: Findings): Promise<void> {
  const stage = await Stage.start(around, { mode });
  try {
    const capacity = await capacityOf(stage, around);
    const calm = { perSecond: capacity / 2, seconds: around.quick ? 5 : 15 };
    // One schedule: what the overload leaves behind is there when the load falls.
    const resident = new Resident(stage.processes).start();
    const arrived = await stage.arrive([calm, { perSecond: capacity * 2, seconds: secondsOf(around) }, calm]);
    resident.stop();
    const [before, during, after] = arrived.phases as [PhaseResult, PhaseResult, PhaseResult];
    const grown = resident.growth();
    const recovered = recoveredAfter(before, after);
    rows.push(rowOf(`${mode}, request`, capacity, during, grown.factor, recovered));
    verdicts.push(
      atMost(`${mode}: p99 of all answers, ms`, during.answered.p99, answerBoundMs),
      atMost(`${mode}: memory, 2nd over 1st half, most in ${grown.name}`, grown.factor, memoryBound),
      atMost(`${mode}: seconds until p99 is normal`, recovered, recoveryBound),
    );
    faults.push(...(await stage.faults([arrived])));
  } finally {
    await stage.stop();
  }
}

async function publications(around: Around, mode: Mode, { rows, verdicts, faults }: Findings): Promise<void> {
  const stage = await Stage.start(around, { mode });
  try {
    const capacity = await capacityOf(stage, around);
    const resident = new Resident(stage.processes).start();
    const arrived = await stage.arrive([{ perSecond: capacity * 2, seconds: secondsOf(around) }], 'publish');
    const from = performance.now();
    await admitted(stage, arrived);
    const recovered = (performance.now() - from) / 1000;
    const grown = resident.stop().growth();
    rows.push(rowOf(`${mode}, publish`, capacity, arrived.phases[0] as PhaseResult, grown.factor, recovered));
    verdicts.push(atMost(`${mode}: memory while published, most in ${grown.name}`, grown.factor, memoryBound));
    faults.push(...(await stage.faults([arrived])));
  } finally {
    await stage.stop();
  }
}

function secondsOf({ quick }: Around): number {
  return quick ? 8 : 60;
}

async function capacityOf(stage: Stage, around: Around): Promise<number> {
  await stage.send(warmUp, around.concurrency);
  await stage.database.prepare();
  const intents = around.quick ? 4_000 : 20_000;
  const { seconds } = await stage.send(intents, around.concurrency);
  await stage.database.prepare();
  return intents / seconds;
}

/** Waits until as many effects are there as submissions were stored, or none have come for a while. */
async function admitted(stage: Stage, { recorded }: Arrived): Promise<void> {
  const wanted = stage.closedCommitted + recorded.length;
  let last = -1;
  for (let since = performance.now(); performance.now() - since < 30_000; ) {
    const { effects } = await stage.effects();
    if (effects >= wanted) break;
    if (effects > last) since = performance.now();
    last = effects;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  await stage.settle();
}

function rowOf(what: string, capacity: number, during: PhaseResult, memory: number, recovered: number): Row {
  const { counts } = during;
  const total = Object.values(counts).reduce((sum, each) => sum + each, 0);
  return {
    system: what,
    'capacity/s': Math.round(capacity),
    submits: total,
    settled: counts.settled,
    kept: counts.kept,
    unavailable: counts.unavailable,
    wrong: counts.wrong,
    unanswered: counts.unanswered,
    'settled/s over capacity': during.settledPerSecond / capacity,
    'answer p50 ms': during.answered.p50,
    'p99 ms': during.answered.p99,
    'generator p99 ms': during.behind.p99,
    memory,
    'recovered s': recovered,
  };
}

/** Seconds of the half load that passed before the first normal one; all of them when there is none. */
export function recoveredAfter(before: PhaseResult, after: PhaseResult): number {
  const worst = quantile(
    [...before.p99BySecond].sort((a, b) => a - b),
    1,
  );
  const first = after.p99BySecond.findIndex((p99) => p99 <= worst * normalBound);
  return first < 0 ? after.p99BySecond.length : first;
}
