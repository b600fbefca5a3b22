import { setMaxListeners } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { History } from '../history/history.js';
import type { Violation } from '../history/violation.js';
import type { Machine } from '../machine.js';
import { rigTime } from '../rig/fault-log.js';
import type { Installation } from '../rig/installation.js';
import { type Lateness, watchLateness } from '../rig/lateness.js';
import { root } from '../rig/root.js';
import { startInstallation } from '../rig/start-installation.js';
import { promisesOf } from '../rig/tool-promises.js';
import { Agents } from './agents.js';
import { boundMs } from './bound.js';
import { Breakages } from './breakages.js';
import { Channel } from './channel.js';
import { ClientLog } from './client-log.js';
import { Operator } from './operator.js';
import type { RoundPlan } from './plan.js';
import { untilAtRest } from './rest.js';
import { Rings } from './rings.js';
import { toolName } from './tools.js';
import { upstreamRules } from './upstream-rules.js';
import { World } from './world.js';

export const toolsDir = path.join(root, 'faults', 'tools');
/** How long what is broken last may take to be mended, in ms. */
const mendMs = 240_000;

export interface RoundOptions {
  readonly plan: RoundPlan;
  readonly machine: Machine;
  readonly dir: string;
  readonly signal: AbortSignal;
  say(line: string): void;
}

export interface Round {
  readonly history: History;
  /** What clients saw that the contract does not allow; everything else is for the checker. */
  readonly violations: readonly Violation[];
  /** What could not be broken as planned. */
  readonly problems: readonly string[];
  readonly late: Lateness;
}

/** Runs one round: load and faults, heal, rest, freeze. @throws when the rig itself fails, or the run is ended */
export async function runRound({ plan, machine, dir, signal, say }: RoundOptions): Promise<Round> {
  const installation = await startInstallation({ machine, topology: plan.topology, dir, toolsDir });
  const frozen = new AbortController();
  const { gatewayUrls, natsUrls, databaseUrl, tenant, serviceKey, operatorKey } = installation;
  const channel = await Channel.open(gatewayUrls, natsUrls).catch(async (error: unknown) => {
    await installation.close();
    throw error;
  });
  const watch = watchLateness(installation.upstream.url);
  try {
    const startedAt = rigTime();
    const log = new ClientLog();
    const world = new World(databaseUrl);
    const ending = AbortSignal.any([signal, frozen.signal]);
    const agents = new Agents({ plan, channel, log, tenant, serviceKey, signal: ending });
    const ledger = () => installation.upstream.ledger();
    const operator = new Operator({ intents: plan.intents, channel, log, world, ledger, operatorKey, signal: ending });
    const loaded = AbortSignal.any([signal, AbortSignal.timeout(plan.loadMs)]);
    // Every agent and every breakage waits for them.
    setMaxListeners(0, ending, loaded);
    const breakages = new Breakages(installation, new Rings(channel.nats, world, installation.faults), loaded, ending);

    tellClocks(installation, plan);
    for (const rule of upstreamRules(plan)) await installation.upstream.behave(rule);
    await agents.prepare();
    const living = Promise.all([agents.live(), operator.work()]);
    await within(
      breakages.carryOut(plan.faults),
      plan.loadMs + mendMs,
      () => `mending ${breakages.unmended.join(', ')}`,
    );
    signal.throwIfAborted();

    // How long services take to be ready again is a part of what is judged.
    const healedAt = await heal(installation, plan);
    const lastEffectMs = Math.max(0, ...plan.intents.map(({ upstream }) => upstream.latestMs));
    const tools = await promisesOf(toolsDir);
    const bound = boundMs(tools, plan.permanent);
    say(`healed after ${seconds(healedAt - startedAt)}; it has to come to rest within ${seconds(bound)}`);
    const parties = { agents, operator, world, nats: channel.nats, effectsUntil: healedAt + lastEffectMs };
    const moving = await untilAtRest(parties, healedAt + bound - rigTime(), signal);
    signal.throwIfAborted();
    const frozenAt = rigTime();
    const late = await watch.stop();
    say(`the rig was held up for ${seconds(late.rigMs)} at most, and its upstream for ${seconds(late.upstreamMs)}`);
    say(moving === null ? `at rest after ${seconds(frozenAt - healedAt)}` : `not at rest: ${moving}`);
    const unanswered = agents.unanswered;
    frozen.abort();
    await living;

    const { clients, collected } = { clients: log.entries, collected: await installation.collect() };
    const meta = {
      ...{ name: `round ${plan.seed}`, seed: plan.seed, startedAt, healedAt, frozenAt, boundMs: bound, tools },
      permanent: sentences(plan),
      excuses: excusesOf(plan, collected.faults),
    };
    const history = { meta, clients: [...clients].sort((a, b) => a.at - b.at), ...collected };
    return {
      history,
      late,
      violations: [...clientViolations(agents.surprises, unanswered, moving), ...denials(history)],
      problems: breakages.problems,
    };
  } catch (error) {
    // Without a history this is all there is to tell what led to it.
    await writeFile(path.join(dir, 'faults.json'), JSON.stringify(installation.faults.entries, null, 1));
    throw error;
  } finally {
    frozen.abort();
    await watch.stop();
    await channel.close().catch(() => undefined);
    await installation.close();
  }
}

/** Resolves with the time from which on only the start of services was left to be mended. */
async function heal(installation: Installation, { permanent, standing }: RoundPlan): Promise<number> {
  const gone = permanent?.kind === 'dispatcher_gone' ? [permanent.replica] : [];
  await installation.upstream.behaveWell();
  for (const rule of standing) await installation.upstream.behave(rule);
  for (const name of gone) {
    if (installation.processes.state(name) !== 'stopped') await installation.processes.kill(name);
  }
  return installation.heal(gone);
}

/** A wrong clock is a fault that is there from the beginning, and nobody mends it. */
function tellClocks({ faults }: Installation, { topology }: RoundPlan): void {
  for (const [target, offsetMs = 0] of Object.entries(topology.clockOffsetsMs)) {
    faults.add({ kind: 'clock', phase: 'begin', target, detail: { offsetMs } });
  }
}

function sentences({ permanent }: RoundPlan): string[] {
  switch (permanent?.kind) {
    case 'dispatcher_gone':
      return [`${permanent.replica} never comes back.`];
    case 'silent_lookups':
      return [`The lookups of ${toolName(permanent.tool)} are never answered.`];
    default:
      return [];
  }
}

const losesMessages = new Set(['nats.wipe', 'nats.restore', 'nats.delete_stream']);

function excusesOf({ permanent, intents }: RoundPlan, faults: History['faults']): History['meta']['excuses'] {
  return {
    streamsLost: faults.some(({ kind, happened }) => losesMessages.has(kind) && happened !== false),
    beyondLimits: intents.filter(({ upstream }) => upstream.beyondLimits).map(({ ref }) => ref),
    silentTools: permanent?.kind === 'silent_lookups' ? [toolName(permanent.tool)] : [],
  };
}

/** Every agent may do what it asks for. */
function denials({ database: { intents } }: History): Violation[] {
  return intents.flatMap(({ id, state, tool, reason }) =>
    state === 'denied'
      ? [{ rule: 'contract', message: `intent ${id} of ${tool} was denied: ${reason}`, intentId: id, timeline: [] }]
      : [],
  );
}

/** Whoever keeps to the contract is answered, and with nothing that only others deserve. */
function clientViolations(surprises: readonly string[], unanswered: number, moving: string | null): Violation[] {
  const violation = (rule: string, message: string): Violation => ({ rule, message, intentId: null, timeline: [] });
  return [
    ...surprises.map((what) => violation('contract', `${what}, and had done nothing to deserve it`)),
    ...(unanswered > 0 ? [violation('answered', `${unanswered} submits were never answered, though repeated`)] : []),
    ...(moving === null ? [] : [violation('rest', `The round did not come to rest within its bound: ${moving}`)]),
  ];
}

/** @throws after `limitMs`: the rig is stuck */
async function within<T>(work: Promise<T>, limitMs: number, what: () => string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what()} took longer than ${seconds(limitMs)}`)), limitMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
