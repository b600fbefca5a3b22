import fc from 'fast-check';
import { check } from '../checker/check.js';
import { reached } from '../history/dangerous-states.js';
import type { History } from '../history/history.js';
import type { Violation } from '../history/violation.js';
import { type Plan, plans } from './plan.js';
import { readHistory } from './read-history.js';
import { Schedule } from './schedule.js';
import { type RaceDatabase, Stage } from './stage.js';
import { maxProcessingMs } from './tools.js';

export interface RunOptions {
  readonly database: RaceDatabase;
  readonly seed: number;
  /** Schedules at most. */
  readonly runs: number;
  /** No further ones are begun after that long; looking for a smaller one that fails comes on top. In ms, really. */
  readonly limitMs: number;
  /** Of a run that failed: only that schedule. */
  readonly path?: string;
  /** How long a smaller schedule that fails as well is looked for, in ms; 30 s when left out. */
  readonly smallerMs?: number;
  /** How long the upstream works on a request at most, in ms; more than its tools declare, and the promise breaks. */
  readonly processingMs?: number;
}

export interface RunOutcome {
  readonly violations: readonly Violation[];
  readonly schedules: number;
  readonly intents: number;
  readonly steps: number;
  readonly kills: number;
  readonly reached: Readonly<Record<string, number>>;
  /** Where fast-check finds the smallest failing schedule again; null when none failed. */
  readonly path: string | null;
}

/** Not of a clock that stands still. */
function realMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}

/** Thrown to fast-check, so that it looks for a smaller schedule with the same fate. */
class Broken extends Error {
  override readonly name = 'Broken';
  constructor(readonly violations: readonly Violation[]) {
    super(violations.map(({ rule, message }) => `${rule}: ${message}`).join('\n'));
  }
}

/** Plays schedules until one breaks the promise, or there were enough. */
export async function runSchedules(options: RunOptions): Promise<RunOutcome> {
  const { seed, runs, limitMs, path, processingMs = maxProcessingMs, smallerMs = 30_000 } = options;
  const stage = await Stage.begin(options.database, processingMs);
  const total = { schedules: 0, intents: 0, steps: 0, kills: 0, reached: {} as Record<string, number> };
  let failedAt = Number.POSITIVE_INFINITY;
  const one = async (plan: Plan) => {
    // To the search for a smaller one it looks as if there were none.
    if (realMs() > failedAt + smallerMs) return;
    const { schedule, history, violations } = await playOne(stage, plan);
    total.schedules += 1;
    total.intents += plan.intents.length;
    total.steps += schedule.trace.length;
    total.kills += schedule.kills;
    for (const [name, count] of Object.entries(reached(history))) {
      total.reached[name] = (total.reached[name] ?? 0) + count;
    }
    if (violations.length === 0) return;
    failedAt = Math.min(failedAt, realMs());
    throw new Broken(violations);
  };
  try {
    const details = await fc.check(fc.asyncProperty(plans, one), {
      seed,
      numRuns: runs,
      interruptAfterTimeLimit: limitMs,
      ...(path === undefined ? {} : { path, endOnFailure: true }),
    });
    const { errorInstance, counterexamplePath } = details;
    if (errorInstance && !(errorInstance instanceof Broken)) throw errorInstance;
    const violations = errorInstance instanceof Broken ? errorInstance.violations : [];
    return { ...total, violations, path: counterexamplePath };
  } finally {
    await stage.close();
  }
}

interface Played {
  readonly schedule: Schedule;
  readonly history: History;
  readonly violations: readonly Violation[];
}

/** One schedule from its beginning until everything is at rest. */
export async function playOne(stage: Stage, plan: Plan): Promise<Played> {
  const startedAt = stage.time.now;
  const schedule = await Schedule.begin(stage, plan);
  await schedule.play();
  const healedAt = stage.time.now;
  const moving = await schedule.letGo();
  const history = await readHistory(schedule, stage, { startedAt, healedAt, frozenAt: stage.time.now });
  const { trace, errors } = schedule;
  const own: Violation[] = errors.map((message) => ({
    rule: 'unexpected error',
    message,
    intentId: null,
    timeline: trace,
  }));
  if (moving) own.push({ rule: 'I3', message: `it does not come to rest: ${moving}`, intentId: null, timeline: trace });
  const judged = check(history).map((violation) => ({ ...violation, timeline: merged(violation, trace) }));
  return { schedule, history, violations: [...own, ...judged] };
}

/** What the violation tells, with the steps of the schedule that led there. */
function merged({ timeline, intentId }: Violation, trace: Violation['timeline']): Violation['timeline'] {
  const about =
    intentId === null ? trace : trace.filter(({ what }) => !/[0-9A-Z]{26}/.test(what) || what.includes(intentId));
  return [...timeline, ...about].sort((a, b) => (a.at ?? 0) - (b.at ?? 0));
}
