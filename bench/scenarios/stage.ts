import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { subjects } from '@intendant/contracts';
import { type Child, type Forked, forkPart, root, startService } from '../children.js';
import { BenchDatabase } from '../database.js';
import type { FromLoad, FromUpstream, ToUpstream } from '../ipc.js';
import type { Blend, LoadJob, LoadResult, OpenJob, Target } from '../load-job.js';
import { arrivalsIn, type Phase } from '../open-loop.js';
import { cpuOfTrees } from '../process-tree.js';
import { leftBehind } from '../requests.js';
import { type Arrived, type Effects, faultsOf } from './faults.js';
import { type OpenedRuns, openRuns } from './open-runs.js';
import type { Around, Mode } from './scenario.js';

export type App = 'standalone' | 'gateway' | 'policy' | 'outbox-relay' | 'dispatcher' | 'reconciler';
const appsOf: Record<Mode, readonly App[]> = {
  standalone: ['standalone'],
  services: ['gateway', 'policy', 'outbox-relay', 'dispatcher', 'reconciler'],
};

export interface Setup {
  readonly mode: Mode;
  /** Processes to start with, an app as often as it is named; all of the mode when left out. */
  readonly apps?: readonly App[];
  /** A database that stays when the stage is taken down; a fresh one of its own when left out. */
  readonly database?: BenchDatabase;
  readonly toolsDir?: string;
  /** Agents that submit in turn. */
  readonly runs?: number;
  readonly upstreamDelayMs?: number;
}

/** The load generator answers within two minutes; longer loads are sent in pieces of this size. */
const piece = 10_000;
/** How long intents that are on their way may stand still before they count as stuck, in ms. */
const stuckAfterMs = 30_000;

type Load = Forked<LoadJob | OpenJob, FromLoad>;

/** Services, upstream and load generator around one database, for as long as a scenario needs them. */
export class Stage {
  readonly processes = new Map<string, Child>();
  private sent = 0;
  private committed = 0;
  private denied = 0;
  private second: Load | null = null;

  private constructor(
    private readonly around: Around,
    private readonly setup: Setup,
    readonly database: BenchDatabase,
    private readonly environment: Readonly<Record<string, string>>,
    private readonly runs: OpenedRuns,
    private readonly upstream: Forked<ToUpstream, FromUpstream>,
    private readonly load: Load,
  ) {}

  static async start(around: Around, setup: Setup): Promise<Stage> {
    const { installation, messages } = around;
    await messages.wipe();
    const database = setup.database ?? (await BenchDatabase.create(installation, { migrated: true }));
    const upstream = await forkPart<ToUpstream, FromUpstream>('upstream', [String(setup.upstreamDelayMs ?? 0)]);
    const load = await forkPart<LoadJob | OpenJob, FromLoad>('load');
    const tokenSecret = randomBytes(32).toString('base64url');
    const environment = {
      INTENDANT_DATABASE_URL: database.url,
      INTENDANT_NATS_URL: installation.natsUrl,
      INTENDANT_TOOLS_DIR: setup.toolsDir ?? `${root}bench/tools`,
      INTENDANT_TOKEN_SECRET: tokenSecret,
      INTENDANT_APPROVAL_SECRET: tokenSecret,
      INTENDANT_HTTP_PORT: '0',
      INTENDANT_EGRESS_PRIVATE: '127.0.0.0/8',
      BENCH_UPSTREAM_URL: `http://127.0.0.1:${upstream.ready.kind === 'ready' ? upstream.ready.port : 0}`,
    };
    const runs = await openRuns(database.url, tokenSecret, setup.runs ?? 8);
    const stage = new Stage(around, setup, database, environment, runs, upstream, load);
    await stage.add(setup.apps ?? appsOf[setup.mode]);
    return stage;
  }

  /** Starts further processes. */
  async add(apps: readonly App[]): Promise<void> {
    const named = apps.map((app, i) => [app, apps.slice(0, i).filter((each) => each === app).length] as const);
    await Promise.all(
      named.map(async ([app, before]) => {
        const name = before === 0 ? app : `${app} ${before + 1}`;
        this.processes.set(name, await startService(app, this.environment, []));
      }),
    );
  }

  /** Stops a process that runs. */
  async remove(name: string): Promise<void> {
    await this.processes.get(name)?.stop();
    this.processes.delete(name);
  }

  /** Closed loop. @throws when an answer is not what it has to be. */
  async send(count: number, concurrency: number, blend: Blend = 'plain'): Promise<LoadResult> {
    const { target } = this;
    const results: LoadResult[] = [];
    for (let left = count; left > 0; left -= piece) {
      const job = { target, first: this.sent, count: Math.min(left, piece), concurrency, blend };
      this.expect(job.first, job.count, blend);
      const answer = await this.load.ask(job);
      if (answer.kind !== 'result') throw new Error('the load generator said something else than its result');
      const { failures, example } = answer.result;
      if (failures > 0) throw new Error(`${failures} of ${job.count} requests failed, one of them with: ${example}`);
      results.push(answer.result);
    }
    const sum = (value: (each: LoadResult) => number) => results.reduce((total, each) => total + value(each), 0);
    const last = results.at(-1) as LoadResult;
    return { ...last, seconds: sum((each) => each.seconds), cpuSeconds: sum((each) => each.cpuSeconds) };
  }

  /** Open loop; what became of the requests is for the caller to judge. */
  arrive(phases: readonly Phase[], as: OpenJob['as'] = 'request'): Promise<Arrived> {
    return this.arriveBy(this.load, phases, { as, blend: 'plain' });
  }

  /** The same beside it, by a load generator of its own, for the tool whose upstream can be told to hang. */
  async arriveBeside(phases: readonly Phase[]): Promise<Arrived> {
    this.second ??= await forkPart<LoadJob | OpenJob, FromLoad>('load');
    return this.arriveBy(this.second, phases, { as: 'request', blend: 'hanging' });
  }

  /** Whether the upstream of `bench.hanging` hangs from now on; what it holds is let go when it no longer does. */
  async hang(hangs: boolean): Promise<void> {
    await this.upstream.ask({ hangs });
  }

  private async arriveBy(
    load: Load,
    phases: readonly Phase[],
    { as, blend }: Pick<OpenJob, 'as' | 'blend'>,
  ): Promise<Arrived> {
    const count = arrivalsIn(phases);
    const target = { ...this.target, ...(as === 'publish' && { subject: subjects.intents('bench') }) };
    const first = this.sent;
    this.sent += count;
    const answer = await load.ask({ target, first, phases, as, blend });
    if (answer.kind !== 'open') throw new Error('the load generator said something else than its result');
    return { ...answer.result, first, count };
  }

  /** Intents that closed loops have submitted so far and that have to be committed. */
  get closedCommitted(): number {
    return this.committed;
  }

  /** Records without waiting for outcomes, as fast as it goes. */
  async record(count: number): Promise<void> {
    await this.send(count, this.around.concurrency, 'unheard');
  }

  /** CPU seconds used so far by all that serve, PostgreSQL and NATS among them. */
  cpuSeconds(): number {
    const { postgresPid, natsPid } = this.around.installation;
    const pids = new Map([...this.processes].map(([name, { pid }]) => [name, pid]));
    const trees = cpuOfTrees(new Map([['postgres', postgresPid], ['nats', natsPid], ...pids]));
    return [...trees.values()].reduce((sum, each) => sum + each, 0);
  }

  async effects(): Promise<Effects> {
    const answer = await this.upstream.ask({});
    if (answer.kind !== 'counts') throw new Error('the upstream said something else than its counts');
    return { writes: answer.writes, effects: answer.effects };
  }

  /** Intents that can still move. */
  async open(): Promise<number> {
    const [row] = await this.database.query<{ open: number }>(
      'SELECT count(*)::int AS open FROM intents WHERE wake_at IS NOT NULL',
    );
    return row?.open ?? Number.NaN;
  }

  /** Waits until no intent can move any more, or none has for a while; returns how many still could. */
  async settle(): Promise<number> {
    let least = Number.POSITIVE_INFINITY;
    let since = performance.now();
    for (;;) {
      const open = await this.open();
      if (open === 0) return 0;
      if (open < least) since = performance.now();
      least = Math.min(least, open);
      if (performance.now() - since > stuckAfterMs) return open;
      await wait(100);
    }
  }

  /** What is wrong once everything has settled, in words. With an open loop, say what it left behind. */
  async faults(openLoops: readonly Arrived[] = []): Promise<string[]> {
    const stuck = await this.settle();
    const sent = { committed: this.committed, denied: this.denied, runs: this.runs.ids, openLoops };
    const found = await faultsOf(this.database, sent, await this.effects());
    return [...(stuck > 0 ? [`${stuck} intents have not settled and do not move`] : []), ...found].map(
      (fault) => `${this.setup.mode}: ${fault}`,
    );
  }

  async stop(): Promise<void> {
    const loads = this.second === null ? [this.load] : [this.load, this.second];
    await Promise.all([...this.processes.values(), this.upstream, ...loads].map((child) => child.stop()));
    if (!this.setup.database) await this.database.drop(this.around.installation);
  }

  private get target(): Extract<Target, { protocol: 'nats' }> {
    const { tokens } = this.runs;
    return { protocol: 'nats', url: this.around.installation.natsUrl, subject: subjects.rpcSubmit, tokens };
  }

  private expect(first: number, count: number, blend: Blend): void {
    const [before, after] = [leftBehind(first, blend), leftBehind(first + count, blend)];
    this.sent += count;
    this.committed += after.committed - before.committed;
    this.denied += after.denied - before.denied;
  }
}
