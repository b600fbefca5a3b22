import { setTimeout as pause } from 'node:timers/promises';
import type { CaseContext, CaseReport } from '../case.js';
import { check } from '../checker/check.js';
import { reached } from '../history/dangerous-states.js';
import type { History } from '../history/history.js';
import type { Violation } from '../history/violation.js';
import { rigTime } from '../rig/fault-log.js';
import type { ReplicaName } from '../rig/installation.js';
import { boundMs } from '../rounds/bound.js';
import { untilAtRest } from '../rounds/rest.js';
import { Bench } from './bench.js';
import { type Cell, nameOf } from './cells.js';
import { ownHistory } from './own-history.js';
import { type Strike, strike } from './strike.js';

const lookMs = 250;
/** After a process goes on that was stopped, what it still sends has to be seen. */
const afterPauseMs = 2_000;

export interface Judged {
  readonly report: CaseReport;
  readonly history: History | null;
}

/**
 * Cells that share an installation. They strike one after the other, so that each is struck by its own calls; what they
 * left settles while the next ones strike.
 */
export class Matrix {
  private bench: Promise<Bench> | null = null;
  private turn: Promise<unknown> = Promise.resolve();
  private readonly begun = new Map<Cell, Promise<Judged>>();
  /** Victims that are stopped, and when that is over. */
  private readonly held = new Map<ReplicaName, Promise<unknown>>();
  private strikes = 0;
  private failed = false;

  constructor(
    private readonly seed: number,
    /** Claims of a process that died end at once, instead of when their time is over. */
    private readonly hasten: boolean,
  ) {}

  /** Tries one, and begins those that `follow`. */
  async judge(cell: Cell, follow: readonly Cell[], context: CaseContext): Promise<Judged> {
    for (const each of [cell, ...follow]) this.begin(each, context);
    const judged = await (this.begun.get(cell) as Promise<Judged>);
    if (judged.report.violations.length > 0 || judged.report.broken !== undefined) this.failed = true;
    return judged;
  }

  /** After all cells: nothing is left over, by the whole history. */
  async atRest(name: string, { machine, signal }: CaseContext): Promise<Judged> {
    const begun = performance.now();
    await Promise.all(this.begun.values());
    const bench = await this.open(machine);
    const { installation, world, channel, tools } = bench;
    await installation.heal();
    const healedAt = rigTime();
    const nobody = { agents: { busy: 0, unanswered: 0 }, operator: { open: async () => [] }, effectsUntil: 0 };
    const moving = await untilAtRest({ ...nobody, world, nats: channel.nats }, boundMs(tools, null), signal);
    const history = await bench.history(name, this.seed, bench.startedAt, healedAt);
    const violations = check(history);
    if (moving !== null) {
      violations.push({ rule: 'rest', message: `not at rest: ${moving}`, intentId: null, timeline: [] });
    }
    this.failed ||= violations.length > 0;
    // What the cells reached is counted with them.
    const report = { ...this.reportOf(name, begun, history, violations), reached: {}, faults: {}, intents: 0 };
    return { report, history };
  }

  /** Safe to call twice. */
  async close(): Promise<void> {
    const { bench } = this;
    this.bench = null;
    await (await bench?.catch(() => null))?.close(this.failed);
  }

  private begin(cell: Cell, context: CaseContext): void {
    if (this.begun.has(cell)) return;
    const id = `p${this.seed}n${String(this.begun.size).padStart(3, '0')}`;
    this.begun.set(
      cell,
      this.try(cell, id, context).catch((error: unknown) => this.broken(cell, error)),
    );
  }

  private async try(cell: Cell, id: string, { machine, signal }: CaseContext): Promise<Judged> {
    const struck = this.turn.then(async () => {
      signal.throwIfAborted();
      const bench = await this.open(machine);
      const victim = this.victimOf(cell);
      await this.held.get(victim);
      const begun = performance.now();
      const startedAt = rigTime();
      const hit = await strike(cell, id, victim, bench);
      return { bench, begun, startedAt, hit };
    });
    this.turn = struck.catch(() => undefined);
    const { bench, begun, startedAt, hit } = await struck;
    const over = this.afterwards(cell, hit, bench);
    if (cell.action === 'pause') this.held.set(hit.victim, over);
    await over;
    const healedAt = rigTime();
    await this.settled(hit, bench, signal);
    const name = nameOf(cell);
    const whole = await bench.history(name, this.seed, startedAt, healedAt);
    const history = ownHistory(whole, new Set(hit.calls.map(({ ref }) => ref)));
    return { report: this.reportOf(name, begun, history, check(history), cell), history };
  }

  /** There are most cells of dispatchers, so two of them are victims in turn; the third is spared. */
  private victimOf({ role }: Cell): ReplicaName {
    this.strikes += 1;
    return `${role}/${role === 'dispatcher' ? this.strikes % 2 : 0}`;
  }

  /** A victim that was stopped goes on when others have had the time to take over. */
  private async afterwards(cell: Cell, { victim }: Strike, { installation, pauseMs }: Bench): Promise<void> {
    if (cell.action !== 'pause') return;
    await pause(pauseMs);
    installation.processes.resume(victim);
    await pause(afterPauseMs);
  }

  /** Resolves when all is answered and none of its intents moves any more, or when that takes too long. */
  private async settled({ answered }: Strike, bench: Bench, signal: AbortSignal): Promise<void> {
    const deadline = performance.now() + boundMs(bench.tools, null);
    let ids: readonly string[] | null = null;
    // The checker finds out when one never is.
    void answered.then((known) => (ids = known)).catch(() => undefined);
    for (; performance.now() < deadline; await pause(lookMs)) {
      signal.throwIfAborted();
      if (ids === null) continue;
      if (this.hasten) await bench.intents.endClaims(ids);
      if (await bench.intents.areAtRest(ids)) return;
    }
  }

  private broken(cell: Cell, error: unknown): Judged {
    const broken = error instanceof Error ? error.message : String(error);
    const nothing = { violations: [], intents: 0, faults: {}, reached: {}, figures: {}, seconds: 0 };
    const name = nameOf(cell);
    const fixed = { name, layer: 'L3', seed: this.seed, replay: { cell: name, seed: this.seed } } as const;
    return { report: { ...fixed, ...nothing, broken }, history: null };
  }

  private open(machine: CaseContext['machine']): Promise<Bench> {
    this.bench ??= Bench.start(machine);
    return this.bench;
  }

  private reportOf(
    name: string,
    begun: number,
    history: History,
    violations: readonly Violation[],
    cell?: Cell,
  ): CaseReport {
    return {
      ...{ name, layer: 'L3', violations, seed: this.seed, intents: history.database.intents.length },
      seconds: (performance.now() - begun) / 1_000,
      faults: cell ? { [`fault_point.${cell.action}`]: 1 } : {},
      reached: reached(history),
      figures: {},
      replay: { cell: cell ? nameOf(cell) : null, seed: this.seed },
    };
  }
}
