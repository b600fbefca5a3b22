import { setTimeout as pause } from 'node:timers/promises';
import type { FaultEntry } from '../history/faults.js';
import type { Installation, ReplicaName, Role } from '../rig/installation.js';
import type { Bench } from './bench.js';
import { behaviourOf, type Cell, toolsOf } from './cells.js';
import type { Call, Clients } from './clients.js';

/** How often calls are made until the point is reached; each time it may be the other replica that gets them. */
const waves = 12;
const waveMs = 1_500;
/** What a dispatcher leaves in the outbox is the relay's after two seconds. */
const leftMs = 4_000;
/** What it could not publish stays in the outbox. */
const leaves = 'outbox.before_publish:1:throw';
const lookMs = 25;

/** A replica that met its point, and what was under way then. */
export interface Strike {
  readonly victim: ReplicaName;
  readonly calls: readonly Call[];
  /** Resolves with the ids of the intents when all calls are answered. */
  readonly answered: Promise<readonly string[]>;
  readonly entry: FaultEntry;
}

/** Arms a replica, and makes calls until it meets its point. @throws when it never does */
export async function strike(
  cell: Cell,
  id: string,
  victim: ReplicaName,
  { installation, clients }: Pick<Bench, 'installation' | 'clients'>,
): Promise<Strike> {
  const calls: Call[] = [];
  const answers: Promise<string>[] = [];
  const from = installation.faults.entries.length;
  await arm(cell, victim, installation);
  try {
    for (let wave = 0; wave < waves; wave += 1) {
      const made = toolsOf(cell).map((tool): Call => ({ ref: `${id}w${wave}${tool}`, tool }));
      for (const { ref, tool } of made) {
        const behaviour = behaviourOf(tool, cell);
        if (behaviour) await installation.upstream.behave({ match: { bodyContains: ref }, behaviour });
      }
      calls.push(...made);
      const asked = made.map((call) => make(call, cell, victim, clients));
      answers.push(...asked);
      // Until somebody waits for it, it is no news that an agent was not answered.
      for (const each of asked) each.catch(() => undefined);
      if (cell.way === 'stop' && wave === 0) {
        // What is recorded is on its way to the upstream; whoever records is stopped in the middle of it.
        if (cell.executed !== null) await Promise.all(asked);
        void installation.processes.stop(victim);
      }
      const entry = await foundIn(installation, from, victim, cell.way === 'leave' ? leftMs : waveMs);
      if (entry === undefined) continue;
      const answered = Promise.all(answers);
      answered.catch(() => undefined);
      return { victim, calls, answered, entry };
    }
  } finally {
    if (polls(cell.role)) installation.processes.resume(otherOf(victim));
  }
  throw new Error(`${victim} never came to ${cell.point}, though ${calls.length} calls were made`);
}

/** Whoever else could come to the point is kept from it where nobody has to be rung for. */
async function arm(cell: Cell, victim: ReplicaName, { processes }: Installation): Promise<void> {
  const { role, point, nth, action, way } = cell;
  const armed: [ReplicaName, string][] = [[victim, `${point}:${nth}:${action}`]];
  // One leaves a doorbell that nobody has heard, the other a public event.
  if (way === 'leave') for (const name of ['policy/1', 'dispatcher/2'] as const) armed.push([name, leaves]);
  if (polls(role)) processes.pause(otherOf(victim));
  await Promise.all(
    armed.map(async ([name, fault]) => {
      if (processes.state(name) === 'running') await processes.stop(name);
      await processes.start(name, fault);
    }),
  );
}

async function foundIn({ faults }: Installation, from: number, victim: ReplicaName, limitMs: number) {
  for (const end = performance.now() + limitMs; performance.now() < end; await pause(lookMs)) {
    const entry = faults.entries
      .slice(from)
      .find(({ kind, phase, target }) => kind === 'fault_point' && phase === 'begin' && target === victim);
    if (entry) return entry;
  }
  return undefined;
}

/** Finds its work by itself, however many of its kind there are. */
function polls(role: Role): boolean {
  return role === 'outbox-relay' || role === 'reconciler';
}

function otherOf(victim: ReplicaName): ReplicaName {
  return victim.replace('/0', '/1') as ReplicaName;
}

async function make(call: Call, { way }: Cell, victim: ReplicaName, clients: Clients): Promise<string> {
  if (way === 'publish') return clients.publish(call);
  const intentId = await clients.submit(call);
  if (way === 'cancel') await clients.cancel(victim, intentId, call);
  if (way === 'approve') await clients.approve(victim, intentId, call);
  return intentId;
}
