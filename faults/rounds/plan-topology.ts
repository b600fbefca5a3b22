import type { ReplicaName, Role, Topology } from '../rig/installation.js';
import type { Random } from './random.js';
import type { ToolKind } from './tools.js';

/** What stays broken after the heal. */
export type Permanent =
  | { readonly kind: 'dispatcher_gone'; readonly replica: ReplicaName }
  /** Nobody is ever told whether the effect is there. */
  | { readonly kind: 'silent_lookups'; readonly tool: ToolKind; readonly answer: 'error' | 'hang' };

/** Which installations this machine can make. */
export interface Shape {
  readonly oldNats: boolean;
}

const replicas: Readonly<Record<Role, number>> = {
  gateway: 2,
  policy: 2,
  'outbox-relay': 2,
  dispatcher: 3,
  reconciler: 2,
};

export const replicaNames: readonly ReplicaName[] = Object.entries(replicas).flatMap(([role, count]) =>
  Array.from({ length: count }, (_, n) => `${role as Role}/${n}` as const),
);

export function planTopology(
  random: Random,
  { oldNats }: Shape,
): { readonly topology: Topology; readonly permanent: Permanent | null } {
  const nats = random.pick(['single', 'cluster'] as const);
  const natsVersion = oldNats && random.chance(0.2) ? 'old' : 'current';
  const skewed = random.chance(0.5) ? random.some(replicaNames, 0.4) : [];
  const clockOffsetsMs = Object.fromEntries(
    skewed.map((name) => [name, random.pick([-1, 1]) * random.whole(700, 6_000)]),
  );
  const topology = { replicas, nats, natsVersion, clockOffsetsMs, faultPoints: {} } as const;
  return { topology, permanent: random.chance(0.3) ? planPermanent(random) : null };
}

function planPermanent(random: Random): Permanent {
  if (random.chance(0.5)) return { kind: 'dispatcher_gone', replica: `dispatcher/${random.whole(0, 2)}` };
  const tool = random.pick(['keyed', 'conditional', 'searched'] as const);
  return { kind: 'silent_lookups', tool, answer: random.pick(['error', 'hang'] as const) };
}
