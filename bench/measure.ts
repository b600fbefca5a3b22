import { type Forked, forkPart } from './children.js';
import { counting } from './counting.js';
import type { Figures, Named } from './figures.js';
import type { Installation } from './installation.js';
import type { FromLoad, FromUpstream } from './ipc.js';
import type { LoadJob, LoadResult } from './load-job.js';
import type { Messages } from './messages.js';
import type { Options } from './options.js';
import { cpuOfTrees, machineBusySeconds, residentMiB } from './process-tree.js';
import { type RunningSystem, type SystemName, startSystem } from './systems.js';

const warmUp = 2_000;
const singles = 300;

/** Everything that a measurement needs besides the system. */
export interface Surroundings {
  readonly installation: Installation;
  readonly messages: Messages;
  readonly options: Options;
}

/** Starts a system on a fresh database, measures it, checks that nothing was lost or doubled, and stops it. */
export async function measure(system: SystemName, round: number, around: Surroundings): Promise<Figures> {
  const { installation, messages, options } = around;
  await messages.wipe();
  const upstream = await forkPart<object, FromUpstream>('upstream');
  const load = await forkPart<LoadJob, FromLoad>('load');
  const upstreamUrl = `http://127.0.0.1:${upstream.ready.kind === 'ready' ? upstream.ready.port : 0}`;
  const running = await startSystem(system, installation, upstreamUrl, options.profile);
  try {
    const figures = await new Measurement(around, running, upstream, load).run(system, round);
    const counted = await upstream.ask({});
    const expected = warmUp + options.intents + singles;
    if (counted.kind !== 'counts' || counted.writes !== expected || counted.effects !== expected) {
      throw new Error(`${system}: ${expected} intents, but the upstream saw ${JSON.stringify(counted)}`);
    }
    await running.check(expected);
    return figures;
  } finally {
    await Promise.all([...running.processes.values(), upstream, load].map((child) => child.stop()));
    await running.database.drop(installation);
  }
}

class Measurement {
  private sent = 0;
  private readonly trees: Map<string, number>;

  constructor(
    private readonly around: Surroundings,
    private readonly running: RunningSystem,
    private readonly upstream: Forked<object, FromUpstream>,
    private readonly load: Forked<LoadJob, FromLoad>,
  ) {
    const { installation } = around;
    this.trees = new Map([
      ['postgres', installation.postgresPid],
      ...(running.usesNats ? [['nats', installation.natsPid] as const] : []),
      ...[...running.processes].map(([name, { pid }]) => [name, pid] as const),
    ]);
  }

  async run(system: SystemName, round: number): Promise<Figures> {
    const { intents, concurrency } = this.around.options;
    const idleMiB = this.resident();
    await this.send(warmUp, concurrency);
    await this.running.database.prepare();

    const wanted = round === 1 && this.around.options.counts;
    const count = wanted ? await counting(this.running, this.around.messages, this.trees) : null;
    const busy = machineBusySeconds();
    const before = cpuOfTrees(this.trees);
    const upstreamBefore = cpuOfTrees(new Map([['upstream', this.upstream.pid]])).get('upstream') ?? 0;
    const loaded = await this.send(intents, concurrency);
    const after = cpuOfTrees(this.trees);
    const upstreamCpu = (cpuOfTrees(new Map([['upstream', this.upstream.pid]])).get('upstream') ?? 0) - upstreamBefore;
    const busySeconds = machineBusySeconds() - busy;
    const counts = count === null ? null : await count(intents);

    await this.running.database.prepare();
    const { p50, p95, p99 } = await this.send(singles, 1);
    const cpu = [...after].map(
      ([name, seconds]) => [name, ((seconds - (before.get(name) ?? 0)) * 1000) / intents] as const,
    );
    const cpuTotal = cpu.reduce((sum, [, each]) => sum + each, 0);
    const own = (cpuTotal * intents) / 1000 + upstreamCpu + loaded.cpuSeconds;
    return {
      system,
      round,
      perSecond: intents / loaded.seconds,
      loaded: { p50: loaded.p50, p95: loaded.p95, p99: loaded.p99 },
      oneAtATime: { p50, p95, p99 },
      cpu: Object.fromEntries(cpu),
      cpuTotal,
      otherCores: (busySeconds - own) / loaded.seconds,
      idleMiB,
      loadedMiB: this.resident(),
      counts,
    };
  }

  /** @throws when a request did not get its settled result. */
  private async send(count: number, concurrency: number): Promise<LoadResult> {
    const answer = await this.load.ask({ target: this.running.target, first: this.sent, count, concurrency });
    this.sent += count;
    if (answer.kind !== 'result') throw new Error('the load generator said something else than its result');
    const { failures, example } = answer.result;
    if (failures > 0) throw new Error(`${failures} of ${count} requests failed, one of them with: ${example}`);
    return answer.result;
  }

  private resident(): Named {
    return Object.fromEntries([...this.running.processes].map(([name, { pid }]) => [name, residentMiB(pid)]));
  }
}
