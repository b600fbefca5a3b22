import type { PhaseResult } from '../open-loop.js';
import { hangingTool } from '../requests.js';
import { spread } from '../statistics.js';
import type { Arrived } from './faults.js';
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
import { toolFolder } from './tool-folder.js';

const delayMs = 20;
const perSecond = 100;
/** Of the other tool; most of it waits for a place at its upstream. */
const floodPerSecond = 50;
const bound = 1.1;
const warmUp = 1_000;

/** What happens at the other tool while the one is measured. */
const others = ['nothing', 'answers', 'hangs'] as const;
type Other = (typeof others)[number];

interface Part extends PhaseResult {
  /** Of all that serves, while it was measured. */
  readonly cpuSeconds: number;
}
type Measured = Readonly<Record<Other, Part>>;

/** One upstream that hangs must not be felt by the callers of another one. */
export const hangingUpstream: Scenario = {
  name: 'hanging-upstream',
  about: `p99 of one tool at ${perSecond}/s alone, and beside ${floodPerSecond}/s for another whose upstream answers, or hangs all the time`,
  async run(around: Around): Promise<Outcome> {
    const folder = await toolFolder([{ name: hangingTool, edit: hanging }]);
    const rows: Row[] = [];
    const verdicts: Verdict[] = [];
    const faults: string[] = [];
    try {
      for (const mode of around.modes) {
        const rounds = await measure(around, mode, folder.path, faults);
        const p99 = (other: Other) => median(rounds, (round) => round[other].settled.p99);
        const ratio = (other: Other, base: Other = 'nothing') =>
          median(rounds, (round) => round[other].settled.p99 / round[base].settled.p99);
        for (const other of others)
          rows.push(row(`${mode}, the other ${other}`, other, p99(other), ratio(other), rounds));
        const settled = Math.min(...rounds.flatMap((round) => others.map((other) => share(round[other]))));
        verdicts.push(atLeast(`${mode}: share that settled`, settled, 1));
        // The same requests in both: what is compared is the hanging, not the work of taking more of them.
        verdicts.push(
          atMost(`${mode}: p99 while the other hangs over while it answers`, ratio('hangs', 'answers'), bound),
        );
      }
    } finally {
      await folder.remove();
    }
    const notes = [
      `The measured upstream takes ${delayMs} ms. Each round has all three in turn, in another order; figures are medians of the rounds.`,
      'What hung is let go after each part, and has to have taken effect once in the end.',
    ];
    return { rows, verdicts, faults, notes };
  },
};

/** Another upstream with a short call limit: attempts and lookups run into it all the time, and the circuit opens. */
function hanging(text: string): string {
  return text
    .replace(/^limits: .*$/m, 'limits: { connect: 2s, call: 2s, concurrency: 512 }')
    .replace(/^retry: .*$/m, 'retry: { attempts: 50, backoff: 50ms }')
    .replace(/^ {2}concurrency: .*$/m, '  name: hanging\n  concurrency: 64')
    .replace('path: /effects', 'path: /hanging')
    .replace('"/effects?', '"/hanging?')
    .replace('deadline: 1m', 'deadline: 10m');
}

async function measure(around: Around, mode: Mode, toolsDir: string, faults: string[]): Promise<Measured[]> {
  const stage = await Stage.start(around, { mode, toolsDir, upstreamDelayMs: delayMs });
  const arrived: Arrived[] = [];
  try {
    await stage.send(warmUp, 64);
    const rounds: Measured[] = [];
    for (let round = 0; round < around.rounds; round += 1) {
      const measured: Partial<Record<Other, Part>> = {};
      for (let i = 0; i < others.length; i += 1) {
        const other = others[(round + i) % others.length] as Other;
        measured[other] = await beside(stage, other, around.quick ? 6 : 30, arrived);
        around.say(
          `  ${mode}, round ${round + 1}, the other ${other}: p99 ${measured[other].settled.p99.toFixed(1)} ms`,
        );
      }
      rounds.push(measured as Measured);
    }
    faults.push(...(await stage.faults(arrived)));
    return rounds;
  } finally {
    await stage.stop();
  }
}

/** Measures the one tool while that happens at the other, which begins earlier and ends later. */
async function beside(stage: Stage, other: Other, seconds: number, arrived: Arrived[]): Promise<Part> {
  await stage.database.prepare();
  await stage.hang(other === 'hangs');
  const leadSeconds = 3;
  const flood =
    other === 'nothing'
      ? null
      : stage.arriveBeside([{ perSecond: floodPerSecond, seconds: leadSeconds + seconds + 1 }]);
  if (flood !== null) await new Promise((resolve) => setTimeout(resolve, leadSeconds * 1_000));
  const before = stage.cpuSeconds();
  const measured = await stage.arrive([{ perSecond, seconds }]);
  const cpuSeconds = stage.cpuSeconds() - before;
  arrived.push(measured);
  if (flood !== null) arrived.push(await flood);
  await stage.hang(false);
  await stage.settle();
  return { ...(measured.phases[0] as PhaseResult), cpuSeconds };
}

function row(what: string, other: Other, p99: number, ratio: number, rounds: readonly Measured[]): Row {
  return {
    system: what,
    'arrivals/s': perSecond,
    'p50 ms': median(rounds, (round) => round[other].settled.p50),
    'p99 ms': p99,
    'p99 over alone': ratio,
    'CPU s': median(rounds, (round) => round[other].cpuSeconds),
    'generator p99 ms': median(rounds, (round) => round[other].behind.p99),
  };
}

function median(rounds: readonly Measured[], of: (round: Measured) => number): number {
  return spread(rounds.map(of)).median;
}

function share({ counts }: PhaseResult): number {
  return counts.settled / Object.values(counts).reduce((sum, each) => sum + each, 0);
}
