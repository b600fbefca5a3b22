import { type Forked, forkPart } from './children.js';
import { counting } from './counting.js';
import type { Figures, Measured, Named, UnderLoad } from './figures.js';
import type { Installation } from './installation.js';
import type { FromLoad, FromUpstream } from './ipc.js';
import type { LoadJob, LoadResult } from './load-job.js';
import type { Messages } from './messages.js';
import type { Options } from './options.js';
import { bestInFlight, isPeer, startPeer } from './peers.js';
import { cpuOfTrees, machineBusySeconds, residentMiB } from './process-tree.js';
import { total } from './statistics.js';
import { type RunningSystem, startSystem } from './systems.js';

const warmUp = 2_000;

/** Everything that a measurement needs besides the system. */
export interface Surroundings {
  readonly installation: Installation;
  readonly messages: Messages;
  readonly options: Options;
}

/** Starts a system on a fresh database, measures it, checks that nothing was lost or doubled, and stops it. */
export async function measure(system: Measured, round: number, around: Surroundings): Promise<Figures> {
  await around.messages.wipe();
  const measurement = await Measurement.start(system, around);
  try {
    const figures = await measurement.run(round);
    await measurement.check();
    return figures;
  } finally {
    await measurement.stop();
  }
}

/** One system on a fresh database, with an upstream and a load generator of its own. */
export class Measurement {
  /** Requests so far, each another intent. */
  private sent = 0;
  private readonly trees: Map<string, number>;

  private constructor(
    private readonly system: Measured,
    private readonly around: Surroundings,
    private readonly running: RunningSystem,
    private readonly upstream: Forked<object, FromUpstream>,
    private readonly load: Forked<LoadJob, FromLoad>,
  ) {
    const { installation } = around;
    this.trees = new Map([
      ...(running.database ? [['postgres', installation.postgresPid] as const] : []),
      ...(running.usesNats ? [['nats', installation.natsPid] as const] : []),
      ...[...running.processes].map(([name, { pid }]) => [name, pid] as const),
    ]);
  }

  static async start(system: Measured, around: Surroundings): Promise<Measurement> {
    const { installation, options } = around;
    const upstream = await forkPart<object, FromUpstream>('upstream');
    const load = await forkPart<LoadJob, FromLoad>('load');
    const upstreamUrl = `http://127.0.0.1:${upstream.ready.kind === 'ready' ? upstream.ready.port : 0}`;
    const running = isPeer(system)
      ? await startPeer(system, installation, upstreamUrl)
      : await startSystem(system, installation, upstreamUrl, options.profile);
    return new Measurement(system, around, running, upstream, load);
  }

  async run(round: number): Promise<Figures> {
    const { system } = this;
    const { intents, concurrency, furtherConcurrencies, singles } = this.around.options;
    const { database } = this.running;
    const most = isPeer(system) ? bestInFlight[system] : concurrency;
    const idleMiB = this.resident();
    await this.send(warmUp, most);
    await this.prepare();
    const counted = this.around.options.counts && round === 1 && database !== null;
    const count = counted
      ? await counting({ database, usesNats: this.running.usesNats }, this.around.messages, this.trees)
      : null;
    const peak = await this.underLoad(intents, most);
    const counts = count === null ? null : await count(intents);

    const further: UnderLoad[] = [];
    for (const inFlight of furtherConcurrencies) {
      await this.prepare();
      further.push(await this.underLoad(intents, inFlight));
    }
    await this.prepare();
    const { p50, p95, p99 } = await this.send(singles, 1);
    const oneAtATime = { p50, p95, p99 };
    return { system, round, ...peak, oneAtATime, further, idleMiB, loadedMiB: this.resident(), counts };
  }

  /** @throws unless the upstream and the system have seen each request exactly once. */
  async check(): Promise<void> {
    const { sent } = this;
    const counted = await this.upstream.ask({});
    if (counted.kind !== 'counts' || counted.writes !== sent || counted.effects !== sent) {
      throw new Error(`${this.system}: ${sent} intents, but the upstream saw ${JSON.stringify(counted)}`);
    }
    await this.running.check(sent);
  }

  async stop(): Promise<void> {
    const { running, upstream, load } = this;
    await Promise.all([...running.processes.values(), upstream, load].map((child) => child.stop()));
    await running.database?.drop(this.around.installation);
  }

  /** Makes ready for a load whose figures count. */
  async prepare(): Promise<void> {
    await this.running.database?.prepare();
  }

  /** What another system uses that is up meanwhile, though nobody asks it, is not other work on the machine. */
  async underLoad(intents: number, inFlight: number, beside?: Measurement): Promise<UnderLoad> {
    const besides = [...(beside?.running.processes ?? [])].map(([name, { pid }]) => [name, pid] as const);
    const known = new Map([['upstream', this.upstream.pid], ...besides]);
    const startedAt = performance.now();
    const busyBefore = machineBusySeconds();
    const before = cpuOfTrees(this.trees);
    const knownBefore = total(cpuOfTrees(known).values());
    const { seconds, p50, p95, p99, cpuSeconds } = await this.send(intents, inFlight);
    const after = cpuOfTrees(this.trees);
    const knownSeconds = total(cpuOfTrees(known).values()) - knownBefore;
    const busySeconds = machineBusySeconds() - busyBefore;
    const watchedSeconds = (performance.now() - startedAt) / 1000;
    const used = [...after].map(([name, all]) => [name, all - (before.get(name) ?? 0)] as const);
    const usedTotal = total(used.map(([, each]) => each));
    return {
      inFlight,
      perSecond: intents / seconds,
      loaded: { p50, p95, p99 },
      cpu: Object.fromEntries(used.map(([name, each]) => [name, (each * 1000) / intents])),
      cpuTotal: (usedTotal * 1000) / intents,
      otherCores: (busySeconds - usedTotal - knownSeconds - cpuSeconds) / watchedSeconds,
    };
  }

  /** @throws when a request did not get its settled result. */
  async send(count: number, concurrency: number): Promise<LoadResult> {
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
