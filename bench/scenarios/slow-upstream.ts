import type { PhaseResult } from '../open-loop.js';
import {
  type Around,
  atLeast,
  atMost,
  type Mode,
  type Outcome,
  type Row,
  type Scenario,
  type Verdict,
} from './scenario.js';
import { Stage } from './stage.js';

const delayMs = 20;
const perSecond = 200;
const ofPeak = 0.7;
const addedBound = 6;
const tailBound = 4;
const warmUp = 1_000;

/** Latency at a given rate of arrivals, counted from when each request was due. */
export const slowUpstream: Scenario = {
  name: 'slow-upstream',
  about: `latency in an open loop: ${perSecond}/s with an upstream that takes ${delayMs} ms, and 70 % of the peak with one that answers at once`,
  async run(around: Around): Promise<Outcome> {
    const rows: Row[] = [];
    const verdicts: Verdict[] = [];
    const faults: string[] = [];
    for (const mode of around.modes) {
      const slow = await atFixedRate(around, mode, faults);
      verdicts.push(atLeast(`${mode}: share that settled at ${perSecond}/s`, share(slow), 1));
      const added = slow.settled.p50 - delayMs;
      rows.push(row(`${mode}, ${delayMs} ms upstream`, perSecond, slow));
      verdicts.push(atMost(`${mode}: added p50 at ${perSecond}/s, ms`, added, addedBound));
      const { rate, result } = await belowPeak(around, mode, faults);
      rows.push(row(`${mode}, ${ofPeak * 100} % of peak`, rate, result));
      verdicts.push(atLeast(`${mode}: share that settled at 70 % of peak`, share(result), 1));
      verdicts.push(
        atMost(`${mode}: p99 over p50 at 70 % of peak`, result.settled.p99 / result.settled.p50, tailBound),
      );
    }
    const notes = [
      'Latency counts from the scheduled arrival; "generator p99" is how late the generator itself was, and part of it.',
      `Added p50 is p50 less ${delayMs} ms. The peak is the closed loop with ${around.concurrency} in flight, just before, on the same processes.`,
    ];
    return { rows, verdicts, faults, notes };
  },
};

function row(what: string, rate: number, { settled, behind }: PhaseResult): Row {
  return {
    system: what,
    'arrivals/s': Math.round(rate),
    'p50 ms': settled.p50,
    'p99 ms': settled.p99,
    'p99/p50': settled.p99 / settled.p50,
    'generator p99 ms': behind.p99,
  };
}

async function atFixedRate(around: Around, mode: Mode, faults: string[]): Promise<PhaseResult> {
  const stage = await Stage.start(around, { mode, upstreamDelayMs: delayMs });
  try {
    await stage.send(warmUp, 64);
    await stage.database.prepare();
    return await judged(stage, perSecond, around.quick ? 5 : 30, faults);
  } finally {
    await stage.stop();
  }
}

async function belowPeak(
  around: Around,
  mode: Mode,
  faults: string[],
): Promise<{ readonly rate: number; readonly result: PhaseResult }> {
  const intents = around.quick ? 4_000 : 15_000;
  const stage = await Stage.start(around, { mode });
  try {
    await stage.send(warmUp, around.concurrency);
    await stage.database.prepare();
    const { seconds } = await stage.send(intents, around.concurrency);
    await stage.database.prepare();
    const rate = (intents / seconds) * ofPeak;
    return { rate, result: await judged(stage, rate, around.quick ? 5 : 30, faults) };
  } finally {
    await stage.stop();
  }
}

async function judged(stage: Stage, rate: number, seconds: number, faults: string[]): Promise<PhaseResult> {
  const arrived = await stage.arrive([{ perSecond: rate, seconds }]);
  faults.push(...(await stage.faults([arrived])));
  return arrived.phases[0] as PhaseResult;
}

/** Nothing here is beyond what the system can do, so that every request has to settle. */
function share({ counts }: PhaseResult): number {
  return counts.settled / Object.values(counts).reduce((sum, each) => sum + each, 0);
}
