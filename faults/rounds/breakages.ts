import { setTimeout as pause } from 'node:timers/promises';
import type { Behaviour } from '../../examples/upstream/behaviour.js';
import type { Installation, Leg, ReplicaName } from '../rig/installation.js';
import type { Breakage, PlannedFault } from './fault-kinds.js';
import { gapMs, thingOf } from './plan-faults.js';
import type { Rings } from './rings.js';

/** How long before its time is over a fault point must have struck, so that the process can come back, in ms. */
const comeBackMs = 1_500;

/** Breaks what a plan says, when it says so. */
export class Breakages {
  /** What could not be broken as ordered, and why. */
  readonly problems: string[] = [];
  /** What is not mended yet. */
  readonly #open = new Set<PlannedFault>();

  constructor(
    private readonly installation: Installation,
    private readonly rings: Rings,
    /** Aborted when the load ends: from then on things are only mended. */
    private readonly signal: AbortSignal,
    /** Aborted when the round is over: from then on nothing is done any more. */
    private readonly over: AbortSignal,
  ) {}

  /** Sentences for whoever waits for it in vain. */
  get unmended(): string[] {
    return [...this.#open].map((fault) => `${fault.kind}${'replica' in fault ? ` of ${fault.replica}` : ''}`);
  }

  /** Begins now; resolves when everything that was broken is mended again, as far as its time was over. */
  async carryOut(faults: readonly PlannedFault[]): Promise<void> {
    const start = performance.now();
    // Mending takes longer on a slow machine than planned; two orders at once would undo each other.
    await Promise.all([...byThing(faults)].map(([thing, each]) => this.#oneByOne(thing, each, start)));
  }

  async #oneByOne(thing: string, faults: readonly PlannedFault[], start: number): Promise<void> {
    for (const [n, fault] of faults.entries()) {
      if (!(await this.#sleep(Math.max(gapMs, start + fault.atMs - performance.now())))) {
        this.problems.push(`${thing}: the load ended with ${faults.length - n} of ${faults.length} faults to come`);
        return;
      }
      this.#open.add(fault);
      try {
        await this.#act(fault, fault.forMs);
      } catch (error) {
        this.problems.push(`${fault.kind}: ${error instanceof Error ? error.message : String(error)}`);
      } finally {
        this.#open.delete(fault);
      }
    }
  }

  async #act(fault: Breakage, forMs: number): Promise<void> {
    const { processes, wires, postgres, nats, upstream, faults } = this.installation;
    switch (fault.kind) {
      case 'kill':
      case 'stop':
        await processes[fault.kind](fault.replica);
        await this.#sleep(forMs);
        return this.#startAgain(fault.replica);
      case 'pause':
        if (processes.state(fault.replica) !== 'running') return;
        processes.pause(fault.replica);
        await this.#sleep(forMs);
        return this.#resume(fault.replica);
      case 'block':
        processes.block(fault.replica, forMs);
        await this.#sleep(forMs);
        return;
      case 'fault_point':
        return this.#arm(fault.replica, fault.fault, forMs);
      case 'cut':
        await wires.cut(fault.replica, fault.leg, fault.cut, forMs);
        return;
      case 'delay':
        wires.delay(fault.replica, fault.leg, fault.ms);
        return this.#mendAfter(fault, forMs);
      case 'blackhole':
        wires.blackhole(fault.replica, fault.leg, fault.direction);
        return this.#mendAfter(fault, forMs);
      case 'partition':
        wires.partition(fault.replica, fault.leg);
        return this.#mendAfter(fault, forMs);
      case 'slice':
        wires.slice(fault.replica, fault.leg, fault.bytes);
        return this.#mendAfter(fault, forMs);
      case 'postgres.crash':
        await postgres.crash();
        await this.#sleep(forMs);
        return this.over.aborted ? undefined : postgres.start();
      case 'postgres.stop':
        await postgres.stop();
        await this.#sleep(forMs);
        return this.over.aborted ? undefined : postgres.start();
      case 'postgres.pause':
        postgres.pause();
        await this.#sleep(forMs);
        return postgres.resume();
      case 'postgres.read_only':
        await postgres.readOnly(true);
        await this.#sleep(forMs);
        return postgres.readOnly(false);
      case 'postgres.hold':
        return this.#hold(await postgres.holdTransaction(), forMs);
      case 'postgres.exhaust': {
        const letGo = await postgres.exhaust();
        // Connections that are there go on working; only new ones find none left.
        await postgres.terminateBackends(6);
        return this.#hold(letGo, forMs);
      }
      case 'postgres.terminate':
        await postgres.terminateBackends(fault.most);
        return;
      case 'nats.kill':
        return this.#withoutNode(fault.node, forMs, () => nats.kill(fault.node));
      case 'nats.stop':
        return this.#withoutNode(fault.node, forMs, () => nats.stop(fault.node));
      case 'nats.leader': {
        const node = await nats.leaderOf(fault.stream);
        faults.add({ kind: 'nats.leader', phase: 'begin', target: `nats/${node}`, detail: { stream: fault.stream } });
        return this.#withoutNode(node, forMs, () => nats.kill(node));
      }
      case 'nats.pause':
        nats.pause(fault.node);
        await this.#sleep(forMs);
        return nats.resume(fault.node);
      case 'nats.wipe':
        return nats.wipe(fault.nodes);
      case 'nats.restore':
        await nats.snapshot();
        await this.#sleep(forMs);
        return nats.restore();
      case 'nats.delete_consumer':
        return nats.deleteConsumer(fault.stream, fault.durable);
      case 'nats.delete_stream':
        return nats.deleteStream(fault.stream);
      case 'echo':
        return this.rings.echo(fault.times, forMs, this.signal);
      case 'ring':
        return this.rings.ringAll();
      case 'upstream': {
        const { path, times, behaviour } = fault;
        faults.add({ kind: 'upstream', phase: 'begin', target: path, detail: { times, ...shortly(behaviour) } });
        return upstream.behave({ match: { path }, times, behaviour });
      }
    }
  }

  async #startAgain(name: ReplicaName): Promise<void> {
    const { processes } = this.installation;
    if (!this.over.aborted && processes.state(name) === 'stopped') await processes.start(name);
  }

  #resume(name: ReplicaName): void {
    const { processes } = this.installation;
    if (processes.state(name) === 'paused') processes.resume(name);
  }

  async #arm(name: ReplicaName, fault: string, forMs: number): Promise<void> {
    const { processes } = this.installation;
    if (processes.state(name) !== 'running') return;
    await processes.stop(name);
    await processes.start(name, fault);
    // A failure is survived: there is nothing to wait for, and the heal starts it without.
    if (fault.endsWith(':throw')) return;
    const how = await processes.struck(name, Math.max(0, forMs - comeBackMs)).catch(() => null);
    if (how === null) return;
    await this.#sleep(how === 'paused' ? forMs : comeBackMs);
    this.#resume(name);
    await this.#startAgain(name);
  }

  async #withoutNode(node: number, forMs: number, end: () => Promise<void>): Promise<void> {
    await end();
    await this.#sleep(forMs);
    if (!this.over.aborted) await this.installation.nats.start(node);
  }

  async #hold(letGo: () => Promise<void>, forMs: number): Promise<void> {
    await this.#sleep(forMs);
    await letGo();
  }

  async #mendAfter(
    { replica, leg }: { readonly replica: ReplicaName; readonly leg: Leg },
    forMs: number,
  ): Promise<void> {
    await this.#sleep(forMs);
    this.installation.wires.mend(replica, leg);
  }

  /** False when the round ended meanwhile. */
  async #sleep(ms: number): Promise<boolean> {
    if (ms > 0) await pause(ms, undefined, { signal: this.signal }).catch(() => undefined);
    return !this.signal.aborted;
  }
}

function byThing(faults: readonly PlannedFault[]): Map<string, PlannedFault[]> {
  const things = new Map<string, PlannedFault[]>();
  for (const fault of faults) things.set(thingOf(fault), [...(things.get(thingOf(fault)) ?? []), fault]);
  return things;
}

function shortly({ commit = true, then = 'ok', lookup }: Behaviour): Record<string, string | boolean> {
  return lookup === undefined ? { commit, then } : { lookup };
}
