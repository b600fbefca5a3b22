import type { Behaviour, Then } from '../../examples/upstream/behaviour.js';
import type { Random } from './random.js';
import type { ToolKind } from './tools.js';

/** What the upstream does with the requests of one intent, one after the other; later ones are answered as asked. */
export interface Misbehaviour {
  readonly requests: readonly Behaviour[];
  /** The upstream breaks what the tool file declares of it. */
  readonly beyondLimits: boolean;
  /** How long after a request its effect may still come, in ms. */
  readonly latestMs: number;
}

interface Choice {
  readonly name: string;
  readonly weight: number;
  readonly tools: readonly ToolKind[];
  make(random: Random): Misbehaviour;
}

const keyed = ['keyed', 'keyonly', 'conditional', 'short', 'accepted', 'hinted'] as const;
const plain = ['searched', 'blind'] as const;
const writes: readonly ToolKind[] = [...keyed, ...plain];
const searchable: readonly ToolKind[] = ['keyed', 'conditional', 'searched', 'hinted'];

/** No honest reading of these says that it did not happen, so both may be true. */
const silent: readonly Then[] = [
  ...(['close', 'reset', 'hang', 'garbage', 'empty200', 'cut', 'redirect'] as const),
  ...(['reset_after_status', 'truncated'] as const),
  ...(['status:500', 'status:502', 'status:503', 'status:504', 'status:409'] as const),
];
/** Refusals: the effect did not come, and the upstream says so. */
const refusals: readonly Then[] = [
  ...(['status:400', 'status:401', 'status:422', 'status:307', 'status:421'] as const),
  ...(['status:429', 'status:429', 'status:501'] as const),
];

/** Everything the upstream can do to one intent; a round takes a part of them. */
const choices: readonly Choice[] = [
  {
    ...{ name: 'slow', weight: 4, tools: writes },
    make: (random) => within([{ delayMs: random.whole(100, 900) }]),
  },
  {
    ...{ name: 'silent after the effect', weight: 12, tools: writes },
    make: (random) => within([{ then: random.pick(silent) }]),
  },
  {
    ...{ name: 'silent without an effect', weight: 12, tools: writes },
    make: (random) => within([{ commit: false, then: random.pick(silent) }]),
  },
  {
    ...{ name: 'refusing', weight: 6, tools: writes },
    make: (random) => within([{ commit: false, then: random.pick(refusals) }]),
  },
  {
    ...{ name: 'silent again and again', weight: 6, tools: writes },
    make: (random) =>
      within(
        Array.from({ length: random.whole(2, 4) }, () => ({ commit: random.chance(0.25), then: random.pick(silent) })),
      ),
  },
  {
    ...{ name: 'never there', weight: 3, tools: ['keyed', 'keyonly', 'conditional', 'short', 'searched'] },
    make: (random) => within(Array.from({ length: 4 }, () => ({ commit: false, then: random.pick(silent) }))),
  },
  {
    ...{ name: 'silent, then refusing', weight: 4, tools: writes },
    make: (random) =>
      within([
        { commit: random.chance(0.5), then: random.pick(silent) },
        { commit: false, then: random.pick(refusals) },
      ]),
  },
  {
    ...{ name: 'late within its limits', weight: 8, tools: writes },
    make: (random) => {
      const commitAfterMs = random.whole(50, 900);
      return within([{ commitAfterMs, then: random.pick(silent) }], commitAfterMs);
    },
  },
  {
    // Later than the settle time and the spacing together, and early enough for the one more look after a commit.
    ...{ name: 'late beyond its limits', weight: 10, tools: ['keyed', 'conditional', 'searched'] },
    make: (random) => {
      const commitAfterMs = random.whole(2_500, 3_700);
      const requests = [{ commitAfterMs, then: random.pick(['close', 'status:504', 'reset'] as const) }];
      return { requests, beyondLimits: true, latestMs: commitAfterMs };
    },
  },
  {
    ...{ name: 'an error for ever', weight: 3, tools: ['keyed', 'keyonly', 'short', 'hinted'] },
    make: (random) => {
      const then = random.pick(['status:500', 'status:502', 'status:503'] as const);
      return within([{ commit: random.chance(0.5), then, keepAnswer: true }]);
    },
  },
  {
    ...{ name: 'in progress for a while', weight: 4, tools: ['keyed', 'keyonly', 'conditional'] },
    make: (random) => within([{ then: random.pick(silent), inProgress: random.whole(1, 2) }]),
  },
  {
    ...{ name: 'lookup behind', weight: 6, tools: ['searched'] },
    make: (random) => within([{ then: random.pick(silent), lookup: `lag:${random.whole(100, 450)}` }]),
  },
  {
    // Further behind than declared: the key is all that keeps a resend from being a second effect.
    ...{ name: 'lookup far behind', weight: 5, tools: ['keyed', 'conditional'] },
    make: (random) => {
      const requests = [{ then: random.pick(silent), lookup: `lag:${random.whole(2_000, 3_500)}` } as const];
      return { requests, beyondLimits: true, latestMs: 0 };
    },
  },
  {
    ...{ name: 'lookup down', weight: 3, tools: searchable },
    make: (random) =>
      within([
        { commit: random.chance(0.6), then: random.pick(silent), lookup: random.pick(['error', 'hang'] as const) },
      ]),
  },
  {
    ...{ name: 'done later', weight: 30, tools: ['accepted'] },
    make: (random) => {
      const afterMs = random.whole(100, 4_000);
      const end = random.pick(['done', 'done', 'failed'] as const);
      return within([{ then: 'accepted', operation: { afterMs, end } }], afterMs);
    },
  },
  {
    // Beyond the deadline of the poll, so that a person is asked first.
    ...{ name: 'done much later', weight: 12, tools: ['accepted'] },
    make: (random) => {
      const afterMs = random.whole(21_000, 24_000);
      return within([{ then: 'accepted', operation: { afterMs, end: 'done' } }], afterMs);
    },
  },
  {
    ...{ name: 'done in part', weight: 30, tools: ['parts'] },
    make: (random) => within([{ parts: { done: random.whole(1, 2), of: 3 }, then: random.pick(silent) }]),
  },
  {
    ...{ name: 'all parts done', weight: 10, tools: ['parts'] },
    make: (random) => within([{ parts: { done: 3, of: 3 }, then: random.pick(silent) }]),
  },
];

export const misbehaviours: readonly string[] = choices.map(({ name }) => name);

/** An upstream takes its time, so that attempts are open when something breaks. */
function well(random: Random, tool: ToolKind): Misbehaviour {
  const answers = writes.includes(tool) && random.chance(0.5) ? [{ delayMs: random.whole(50, 800) }] : [];
  return within(answers);
}

/** Something of `names` that an upstream of this tool can do; most of the time, or where nothing fits, nothing wrong. */
export function misbehave(random: Random, tool: ToolKind, names: readonly string[], share: number): Misbehaviour {
  const fitting = choices.filter(({ name, tools }) => names.includes(name) && tools.includes(tool));
  // What makes these tools what they are is what their upstream does.
  const always = tool === 'accepted' || tool === 'parts';
  const possible = fitting.length > 0 ? fitting : choices.filter(({ tools }) => always && tools.includes(tool));
  if (possible.length === 0 || !(random.chance(share) || always)) return well(random, tool);
  return random.weighted(possible).make(random);
}

function within(requests: readonly Behaviour[], latestMs = 0): Misbehaviour {
  return { requests, beyondLimits: false, latestMs };
}
