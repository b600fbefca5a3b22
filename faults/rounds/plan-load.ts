import { type Misbehaviour, misbehave } from './behaviours.js';
import type { Profile } from './profile.js';
import type { Random } from './random.js';
import { someTool, type ToolKind } from './tools.js';

export type Way = 'http' | 'nats_request' | 'nats_publish';

/** A run of an agent. */
export interface PlannedRun {
  /** When it is opened. */
  readonly atMs: number;
  /** Short ones end while their intents are under way, in seconds. */
  readonly ttlS: number;
}

/** What an agent does about one intent besides submitting it until it is answered; times count from its first submit. */
export type Step =
  /** The same again, once more. */
  | { readonly kind: 'repeat'; readonly afterMs: number; readonly via: Way }
  /** The same step with other arguments. */
  | { readonly kind: 'conflict'; readonly afterMs: number; readonly via: Way }
  | { readonly kind: 'cancel'; readonly afterMs: number }
  | { readonly kind: 'get'; readonly afterMs: number };

export interface PlannedIntent {
  /** The same length for all, so that none is a part of another. */
  readonly ref: string;
  readonly tool: ToolKind;
  readonly amount: number;
  /** Index of its run. */
  readonly run: number;
  /** Null: its arguments make it what it is. */
  readonly stepId: string | null;
  readonly atMs: number;
  readonly via: Way;
  /** How long the agent asks to be kept waiting for an outcome, in seconds. */
  readonly waitS: number;
  /** How many submits of it begin at once. */
  readonly atOnce: number;
  readonly steps: readonly Step[];
  /** What an operator does when it becomes a dead letter. */
  readonly operator: 'replay' | 'resolve' | 'leave';
  readonly upstream: Misbehaviour;
}

interface LoadOptions {
  readonly seed: number;
  readonly loadMs: number;
  readonly count: number;
  readonly profile: Pick<Profile, 'misbehaviours' | 'misbehaving' | 'tools'>;
}

const longRuns = 5;
/** Long enough to submit in, short enough to end while an outcome is open, in seconds. */
const shortTtlS = [4, 6, 8];

export function planLoad(
  random: Random,
  { seed, loadMs, count, profile }: LoadOptions,
): { readonly runs: PlannedRun[]; readonly intents: PlannedIntent[] } {
  const long: PlannedRun[] = Array.from({ length: longRuns }, () => ({ atMs: 0, ttlS: 3_600 }));
  const short: PlannedRun[] = Array.from({ length: random.whole(2, 5) }, () => ({
    atMs: random.whole(500, loadMs - 8_000),
    ttlS: random.pick(shortTtlS),
  }));
  const runs = [...long, ...short];
  const times = arrivals(random, count, loadMs);
  const intents = times.map((atMs, n): PlannedIntent => {
    const tool = someTool(random, profile.tools);
    // An intent goes to a short run where one is open just then.
    const open = short.flatMap((run, at) => (run.atMs <= atMs && atMs < run.atMs + run.ttlS * 1_000 ? [at] : []));
    const run = open.length > 0 && random.chance(0.25) ? longRuns + random.pick(open) : random.whole(0, longRuns - 1);
    const upstream = misbehave(random, tool, profile.misbehaviours, profile.misbehaving);
    const stepId = random.chance(0.85) ? `step-${n}` : null;
    const via = random.pick(['http', 'http', 'nats_request', 'nats_publish'] as const);
    return {
      ref: `r${String(seed).padStart(10, '0')}n${String(n).padStart(4, '0')}`,
      ...{ tool, amount: tool === 'parts' ? 3 : random.whole(1, 9_999), run, stepId, atMs, via },
      waitS: random.pick([0, 0, 1, 3]),
      atOnce: random.chance(0.12) ? random.whole(2, 4) : 1,
      steps: planSteps(random, { via, tool, hasStep: stepId !== null }),
      operator: planOperator(random, tool, upstream),
      upstream,
    };
  });
  return { runs, intents };
}

/**
 * How many intents of a tool are cancelled, where that is not one in ten: only a cancel leaves an absence that proves
 * nothing to a person where the key is remembered, and only what the upstream has taken on can no longer be cancelled.
 */
const cancelled: Readonly<Partial<Record<ToolKind, number>>> = { hinted: 0.7, accepted: 0.3 };

/** Even over the load, with bursts: agents work in steps, and retries of a whole crowd come together. */
function arrivals(random: Random, count: number, loadMs: number): number[] {
  const times: number[] = [];
  while (times.length < count) {
    const at = random.whole(0, loadMs - 1_000);
    const burst = random.chance(0.1) ? random.whole(5, 12) : 1;
    for (let n = 0; n < burst && times.length < count; n += 1) times.push(at + random.whole(0, 30));
  }
  return times.sort((a, b) => a - b);
}

function planSteps(
  random: Random,
  { via, tool, hasStep }: { readonly via: Way; readonly tool: ToolKind; readonly hasStep: boolean },
): Step[] {
  const ways = ['http', 'nats_request', 'nats_publish'] as const;
  const steps: Step[] = [];
  if (random.chance(0.25)) steps.push({ kind: 'repeat', afterMs: random.whole(5, 6_000), via: random.pick(ways) });
  // How many parts there are to be is an argument, too.
  if (hasStep && tool !== 'parts' && random.chance(0.08)) {
    steps.push({
      kind: 'conflict',
      afterMs: random.whole(0, 3_000),
      via: random.pick(['http', 'nats_request'] as const),
    });
  }
  if (random.chance(cancelled[tool] ?? 0.1)) steps.push({ kind: 'cancel', afterMs: random.whole(0, 2_500) });
  if (random.chance(0.2)) steps.push({ kind: 'get', afterMs: random.whole(10, 5_000) });
  // Whoever only published does not know the intent. Some ask by submitting once more; the others rely on the stream alone.
  if (via === 'nats_publish' && random.chance(0.5)) {
    steps.push({ kind: 'repeat', afterMs: random.whole(500, 8_000), via: 'http' });
  }
  return steps;
}

/** Nobody says that something did not happen while it may still come, nor that half of it is all of it. */
function planOperator(random: Random, tool: ToolKind, { latestMs }: Misbehaviour): PlannedIntent['operator'] {
  return random.pick(
    latestMs > 1_000 || tool === 'parts' ? (['replay', 'leave'] as const) : (['replay', 'resolve', 'leave'] as const),
  );
}
