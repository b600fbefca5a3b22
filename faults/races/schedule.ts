import type { OutboxMessage, Session } from '@intendant/contracts';
import type { Logger } from '@intendant/runtime';
import type { TimelineLine } from '../history/violation.js';
import { Agents, Wish } from './agents.js';
import { Bells } from './bells.js';
import { type Action, Company } from './company.js';
import { Gates, type Waiting } from './gates.js';
import type { Plan } from './plan.js';
import type { Surroundings } from './replicas.js';
import type { Stage } from './stage.js';
import { Upstream } from './upstream.js';

/** Passes over everything after which all has to be at rest; each lets the time pass to whatever is due next. */
const mostRounds = 60;
/** A schedule in which nobody is ever ready again has a deadlock; in steps of one round. */
const mostSteps = 5_000;
const mostKills = 2;
const none: ReadonlySet<string> = new Set();
/** Waits that mean something: shorter and longer than a backoff, a settle time, a lease, a claim. In ms. */
const pauses = [50, 300, 1_000, 1_600, 3_100, 10_000, 31_000];

/** One schedule: two of each service work on the same few intents, and a list of numbers says who goes on when. */
export class Schedule {
  readonly gates: Gates;
  readonly bells = new Bells();
  readonly upstream: Upstream;
  readonly agents: Agents;
  readonly wishes: readonly Wish[];
  readonly trace: TimelineLine[] = [];
  /** What a service threw that nobody expected. */
  readonly errors: string[] = [];
  kills = 0;

  private readonly company: Company;
  private publishes = 0;
  /** Awaits so far. */
  private awaits = 0;
  private constructor(
    private readonly stage: Stage,
    private readonly plan: Plan,
    session: Session,
  ) {
    const { stores, time } = stage;
    this.gates = new Gates(
      () => time.tell(),
      () => this.stall(),
    );
    this.wishes = plan.intents.map((planned, index) => new Wish(planned, index));
    this.agents = new Agents(session, time);
    const scripts = new Map(this.wishes.map(({ ref, planned }) => [ref, planned]));
    this.upstream = new Upstream(scripts, this.gates, time, stage.processingMs);
    const { gates, upstream, bells } = this;
    const around: Surroundings = {
      gates,
      upstream,
      logger: this.logger(),
      publish: async (messages) => this.publish(messages),
    };
    this.company = new Company({ stores, agents: this.agents, wishes: this.wishes, bells, around });
    stage.committed = (commit) => bells.hint(commit);
  }

  static async begin(stage: Stage, plan: Plan): Promise<Schedule> {
    await stage.clear();
    await stage.time.tell();
    stage.time.reseed(plan.choices.length);
    const session = {
      tenant: 'acme',
      runId: `run_${stage.time.now}`,
      user: 'ada',
      permissions: ['*'],
      phase: null,
      profile: 'batch',
    } as const;
    const run = await stage.stores.policy.runs.open({ ...session, id: session.runId, openedBy: 'races' }, plan.runMs);
    return new Schedule(stage, plan, { ...session, expiresAt: run.expiresAt });
  }

  /** Plays the choices. */
  async play(): Promise<void> {
    for (const choice of this.plan.choices) await this.step(choice & 15, choice >> 4);
  }

  /** Lets everything go, and brings round after round what is due, until nothing can move; else what is still moving. */
  async letGo(): Promise<string | null> {
    let moving: string | null = null;
    for (let round = 0; round < mostRounds; round += 1) {
      for (const wish of this.wishes) if (wish.intentId === null) wish.left = Math.max(wish.left, 1);
      for (const action of this.company.actionsOf(round % 2)) await this.begin(action);
      for (let steps = 0; this.ready[0]; steps += 1) {
        if (steps > mostSteps) return `${this.ready[0].who.name} goes on for ever: ${this.ready[0].what}`;
        await this.open(this.ready[0]);
      }
      const { now } = this.stage.time;
      const { dueIn, outbox } = await this.stage.open();
      const [waiting] = this.gates.waiting.toSorted((a, b) => a.from - b.from);
      const bell = this.bells.list.find(({ done }) => !done);
      const wish = this.wishes.find(({ intentId, left }) => intentId === null || left > 0);
      moving = null;
      if (waiting) moving = `${waiting.who.name} waits: ${waiting.what}`;
      if (dueIn !== null) moving = 'an intent is not at rest';
      if (outbox > 0) moving = `${outbox} messages are in the outbox`;
      if (bell) moving = `nobody could deal with a ${bell.what}`;
      if (wish) moving = `${wish.ref} is not submitted`;
      if (moving === null) return null;
      // What is due already and was not dealt with is with somebody who stalls.
      const due = dueIn !== null && dueIn > 0 ? dueIn : Number.POSITIVE_INFINITY;
      const next = Math.min(due, (waiting?.from ?? Number.POSITIVE_INFINITY) - now);
      await this.pass(Number.isFinite(next) ? Math.ceil(next) : 1);
    }
    return moving;
  }

  private async step(who: number, which: number): Promise<void> {
    const waiting = this.ready;
    const pick = <T>(from: readonly T[]): T | undefined => from[which % from.length];
    if (who === 15 && this.kills < mostKills) return this.kill(which);
    if (who === 14) return this.pass(pick(pauses) as number);
    const next = pick(waiting);
    if (who < 9 && next) {
      // Two at once: they share a transaction, or meet in the database.
      const other = who === 0 && waiting.find((each) => each !== next);
      if (other) this.letThrough(other);
      return this.open(next);
    }
    const action = pick(this.company.actions());
    if (action) return this.begin(action);
    if (next) return this.open(next);
  }

  /** Who waits and does not stall. */
  private get ready(): readonly Waiting[] {
    return this.gates.waiting.filter(({ from }) => from <= this.stage.time.now);
  }

  private async open(waiting: Waiting): Promise<void> {
    this.letThrough(waiting);
    await this.settle();
  }

  private letThrough(waiting: Waiting): void {
    this.say(waiting.who.name, waiting.what);
    this.gates.open(waiting);
  }

  private async begin(action: Action): Promise<void> {
    const { who, what } = action;
    this.say(who, what);
    void this.company.begin(action).catch((error: unknown) => {
      if (!/was killed|could be published/.test(String(error))) this.errors.push(`${who} ${what}: ${error}`);
    });
    await this.settle();
  }

  private kill(which: number): Promise<void> {
    this.kills += 1;
    this.say(this.company.kill(which), 'is killed');
    return this.settle();
  }

  /** What the upstream has on its hands is done by the time it declares. */
  private async pass(ms: number): Promise<void> {
    const { time } = this.stage;
    this.say('time', `${ms} ms pass`);
    for (const end = time.now + ms; time.now < end; ) {
      const [due] = this.gates.waiting.filter(({ until }) => until <= end).sort((a, b) => a.until - b.until);
      time.advance(Math.max(Math.min(due?.until ?? end, end) - time.now, 0));
      if (due) await this.open(due);
    }
  }

  /** Every step takes a moment, so that times tell what was first. */
  private async settle(): Promise<void> {
    await this.gates.quiet();
    this.stage.time.advance(1);
  }

  private publish(messages: readonly OutboxMessage[]): ReadonlySet<string> {
    const unheard = this.plan.unheard.find(({ nth }) => nth === this.publishes);
    this.publishes += 1;
    const taken = unheard?.stored === false ? none : this.bells.take(messages);
    return unheard ? none : taken;
  }

  private stall(): number {
    const stall = this.plan.stalls.find(({ nth }) => nth === this.awaits);
    this.awaits += 1;
    return stall ? this.stage.time.now + stall.ms : 0;
  }

  /** In a schedule nothing is broken, so whatever a service finds worth an error is one. */
  private logger(): Logger {
    const nothing = () => {};
    const error = (facts: { err?: unknown }, message: string) => this.errors.push(`${message}: ${facts.err ?? ''}`);
    return { error, warn: nothing, info: nothing, debug: nothing } as unknown as Logger;
  }

  private say(who: string, what: string): void {
    this.trace.push({ at: this.stage.time.now, who, what });
  }
}
