import { faultPoints as knownPoints } from '@intendant/runtime';
import type { Behaviour } from '../../examples/upstream/behaviour.js';
import type { Leg, ReplicaName, Role, Topology, WireCut } from '../rig/installation.js';
import { replicaNames } from './plan-topology.js';
import type { Random } from './random.js';
import { rigTools } from './tools.js';

/** What is broken, from `atMs` after the beginning of the load for `forMs`. */
export type PlannedFault = { readonly atMs: number; readonly forMs: number } & Breakage;

export type Breakage =
  | { readonly kind: 'kill' | 'stop' | 'pause' | 'block'; readonly replica: ReplicaName }
  /** Started armed with that value of INTENDANT_FAULT. */
  | { readonly kind: 'fault_point'; readonly replica: ReplicaName; readonly fault: string }
  | { readonly kind: 'cut'; readonly replica: ReplicaName; readonly leg: Leg; readonly cut: WireCut }
  | { readonly kind: 'delay'; readonly replica: ReplicaName; readonly leg: Leg; readonly ms: number }
  | { readonly kind: 'blackhole'; readonly replica: ReplicaName; readonly leg: Leg; readonly direction: Direction }
  | { readonly kind: 'partition'; readonly replica: ReplicaName; readonly leg: Leg }
  | { readonly kind: 'slice'; readonly replica: ReplicaName; readonly leg: Leg; readonly bytes: number }
  | { readonly kind: `postgres.${'crash' | 'stop' | 'pause' | 'read_only' | 'hold' | 'exhaust'}` }
  | { readonly kind: 'postgres.terminate'; readonly most: number }
  | { readonly kind: `nats.${'kill' | 'stop' | 'pause'}`; readonly node: number }
  | { readonly kind: 'nats.leader' | 'nats.delete_stream'; readonly stream: string }
  | { readonly kind: 'nats.wipe'; readonly nodes: readonly number[] }
  /** The copy is taken at `atMs` and put back when the time is over. */
  | { readonly kind: 'nats.restore' }
  | { readonly kind: 'nats.delete_consumer'; readonly stream: string; readonly durable: string }
  /** Whatever is rung is rung that many times more. */
  | { readonly kind: 'echo'; readonly times: number }
  /** Everything that ever was is rung again, whatever its state. */
  | { readonly kind: 'ring' }
  /** The next requests, or lookups, of a path. */
  | { readonly kind: 'upstream'; readonly path: string; readonly times: number; readonly behaviour: Behaviour };

type Direction = 'to_client' | 'to_server' | 'both';

export interface Kind {
  readonly kind: Breakage['kind'];
  readonly weight: number;
  /** Least and most time it takes, in ms. */
  readonly forMs: readonly [least: number, most: number];
  make(random: Random, topology: Topology): Breakage;
}

/** Longer than any lease of the tools in faults/tools (4.5 s), so that whoever is paused wakes up without one. */
const beyondLeases = [6_000, 9_000] as const;
const streamNames = ['INTENDANT_INTENTS', 'INTENDANT_WORK', 'INTENDANT_EVENTS'] as const;
const consumers = [
  { stream: 'INTENDANT_INTENTS', durable: 'policy' },
  { stream: 'INTENDANT_WORK', durable: 'dispatcher' },
] as const;

/** Everything that a round can break. */
export const kinds: readonly Kind[] = [
  { kind: 'kill', weight: 8, forMs: [200, 5_000], make: (random) => ({ kind: 'kill', replica: replica(random) }) },
  { kind: 'stop', weight: 3, forMs: [200, 3_000], make: (random) => ({ kind: 'stop', replica: replica(random) }) },
  { kind: 'pause', weight: 5, forMs: beyondLeases, make: (random) => ({ kind: 'pause', replica: replica(random) }) },
  { kind: 'block', weight: 5, forMs: [500, 7_000], make: (random) => ({ kind: 'block', replica: replica(random) }) },
  { kind: 'fault_point', weight: 12, forMs: [6_000, 8_000], make: armed },
  { kind: 'cut', weight: 30, forMs: [4_000, 4_000], make: cut },
  {
    ...{ kind: 'delay', weight: 4, forMs: [1_000, 6_000] },
    make: (random) => ({ kind: 'delay', ...wire(random), ms: random.whole(20, 900) }),
  },
  {
    ...{ kind: 'blackhole', weight: 4, forMs: [1_000, 8_000] },
    make: (random) => ({ kind: 'blackhole', ...wire(random), direction: direction(random) }),
  },
  {
    // What an upstream answers meanwhile is recorded when its lease is over, and others have decided without it.
    ...{ kind: 'blackhole', weight: 8, forMs: beyondLeases },
    make: (random) => ({
      ...{ kind: 'blackhole', direction: 'both', leg: 'postgres' },
      replica: random.pick(replicaNames.filter((name) => roleOf(name) === 'dispatcher')),
    }),
  },
  {
    ...{ kind: 'partition', weight: 8, forMs: [500, 6_000] },
    make: (random) => ({ kind: 'partition', ...wire(random) }),
  },
  {
    ...{ kind: 'slice', weight: 2, forMs: [1_000, 4_000] },
    make: (random) => ({ kind: 'slice', ...wire(random), bytes: random.whole(1, 40) }),
  },
  { kind: 'postgres.crash', weight: 8, forMs: [200, 1_500], make: () => ({ kind: 'postgres.crash' }) },
  { kind: 'postgres.stop', weight: 4, forMs: [200, 1_500], make: () => ({ kind: 'postgres.stop' }) },
  { kind: 'postgres.pause', weight: 4, forMs: [500, 3_000], make: () => ({ kind: 'postgres.pause' }) },
  { kind: 'postgres.read_only', weight: 12, forMs: [500, 2_500], make: () => ({ kind: 'postgres.read_only' }) },
  { kind: 'postgres.hold', weight: 10, forMs: [500, 2_000], make: () => ({ kind: 'postgres.hold' }) },
  { kind: 'postgres.exhaust', weight: 16, forMs: [1_000, 3_000], make: () => ({ kind: 'postgres.exhaust' }) },
  {
    ...{ kind: 'postgres.terminate', weight: 5, forMs: [0, 0] },
    make: (random) => ({ kind: 'postgres.terminate', most: random.whole(1, 12) }),
  },
  {
    kind: 'nats.kill',
    weight: 3,
    forMs: [200, 4_000],
    make: (random, t) => ({ kind: 'nats.kill', node: node(random, t) }),
  },
  {
    kind: 'nats.stop',
    weight: 2,
    forMs: [200, 4_000],
    make: (random, t) => ({ kind: 'nats.stop', node: node(random, t) }),
  },
  {
    kind: 'nats.pause',
    weight: 2,
    forMs: [500, 7_000],
    make: (random, t) => ({ kind: 'nats.pause', node: node(random, t) }),
  },
  {
    ...{ kind: 'nats.leader', weight: 20, forMs: [500, 3_000] },
    make: (random) => ({ kind: 'nats.leader', stream: random.pick(streamNames) }),
  },
  { kind: 'nats.wipe', weight: 4, forMs: [0, 0], make: wipe },
  { kind: 'nats.restore', weight: 14, forMs: [2_000, 6_000], make: () => ({ kind: 'nats.restore' }) },
  {
    ...{ kind: 'nats.delete_consumer', weight: 5, forMs: [0, 0] },
    make: (random) => ({ kind: 'nats.delete_consumer', ...random.pick(consumers) }),
  },
  {
    ...{ kind: 'nats.delete_stream', weight: 3, forMs: [0, 0] },
    make: (random) => ({ kind: 'nats.delete_stream', stream: random.pick(streamNames) }),
  },
  {
    ...{ kind: 'echo', weight: 3, forMs: [2_000, 8_000] },
    make: (random) => ({ kind: 'echo', times: random.whole(1, 4) }),
  },
  { kind: 'ring', weight: 5, forMs: [0, 0], make: () => ({ kind: 'ring' }) },
  { kind: 'upstream', weight: 4, forMs: [0, 0], make: upstream },
];

export const faultKinds: readonly Breakage['kind'][] = [...new Set(kinds.map(({ kind }) => kind))];

function replica(random: Random): ReplicaName {
  // Whoever calls out has the most to lose.
  return random.pick([...replicaNames, ...replicaNames.filter(callsOut)]);
}

function callsOut(name: ReplicaName): boolean {
  return roleOf(name) === 'dispatcher' || roleOf(name) === 'reconciler';
}

function roleOf(name: ReplicaName): Role {
  return name.slice(0, name.indexOf('/')) as Role;
}

const atEveryDoor = ['door', 'outbox'];
/** First words of the fault points that a role comes by. */
const pointsOf: Readonly<Record<Role, readonly string[]>> = {
  gateway: ['door', 'outbox', 'gateway', 'shutdown'],
  policy: [...atEveryDoor, 'policy', 'shutdown'],
  'outbox-relay': ['relay', 'shutdown'],
  dispatcher: [...atEveryDoor, 'dispatcher', 'shutdown'],
  reconciler: [...atEveryDoor, 'reconciler', 'shutdown'],
};

function armed(random: Random): Breakage {
  const name = random.pick(replicaNames.filter((each) => roleOf(each) !== 'gateway'));
  const point = random.pick(knownPoints.filter((each) => pointsOf[roleOf(name)].includes(each.split('.')[0] ?? '')));
  const action = random.pick(['kill', 'kill', 'pause', 'throw'] as const);
  return { kind: 'fault_point', replica: name, fault: `${point}:${random.whole(1, 6)}:${action}` };
}

function wire(random: Random): { replica: ReplicaName; leg: Leg } {
  const name = replica(random);
  return { replica: name, leg: random.pick(callsOut(name) ? ['postgres', 'nats', 'upstream'] : ['postgres', 'nats']) };
}

function direction(random: Random): Direction {
  return random.pick(['to_client', 'to_server', 'both'] as const);
}

/** What a role sends just before an answer that must not be lost; the door writes with one statement named `append`. */
const turningPoints: Readonly<Record<Role, readonly (readonly [leg: Leg, after: string])[]>> = {
  gateway: [['nats', 'HPUB intendant.rpc']],
  policy: [
    ['postgres', 'append'],
    ['nats', 'HPUB intendant.'],
    ['nats', '+ACK'],
  ],
  'outbox-relay': [
    ['postgres', 'COMMIT'],
    ['nats', 'HPUB intendant.'],
  ],
  dispatcher: [
    ['postgres', 'append'],
    ['nats', 'HPUB intendant.'],
    ['nats', '+ACK'],
    ['upstream', 'POST '],
  ],
  reconciler: [
    ['postgres', 'append'],
    ['nats', 'HPUB intendant.'],
    ['upstream', 'GET '],
  ],
};

function cut(random: Random): Breakage {
  const leg = random.pick(['postgres', 'nats', 'nats', 'upstream'] as const);
  const possible = replicaNames.flatMap((name) =>
    turningPoints[roleOf(name)].flatMap(([each, after]) => (each === leg ? [{ name, after }] : [])),
  );
  const { name, after } = random.pick(possible);
  const way = random.pick(['to_client', 'to_client', 'to_server'] as const);
  const bytes = random.pick([0, 0, 1, random.whole(2, 200)]);
  return { kind: 'cut', replica: name, leg, cut: { direction: way, after, bytes } };
}

function node(random: Random, { nats }: Topology): number {
  return nats === 'cluster' ? random.whole(0, 2) : 0;
}

function wipe(random: Random, topology: Topology): Breakage {
  const all = topology.nats === 'cluster' ? [0, 1, 2] : [0];
  return { kind: 'nats.wipe', nodes: random.chance(0.5) ? all : [node(random, topology)] };
}

/** A crowd of requests, or of lookups, meets the same trouble. */
function upstream(random: Random): Breakage {
  const { path, lookup } = random.pick(rigTools.filter((tool) => tool.path !== ''));
  const times = random.whole(3, 15);
  const behaviour: Behaviour =
    lookup && random.chance(0.6)
      ? { lookup: random.pick(['error', 'hang'] as const) }
      : { commit: false, then: random.pick(['status:503', 'status:429', 'close', 'hang', 'reset'] as const) };
  return { kind: 'upstream', path, times, behaviour };
}
