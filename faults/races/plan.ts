import fc from 'fast-check';
import { type Kind, kinds } from './tools.js';
import { type Conduct, conducts, type Script } from './upstream.js';

/** One intent of a schedule: who submits it how often, and what it will meet. */
export interface PlannedIntent extends Script {
  readonly kind: Kind;
  /** How often it is submitted, by policies in turn; at least once. */
  readonly submits: number;
  /** One more submit of the same step asks for something else. */
  readonly conflict: boolean;
  readonly cancelled: boolean;
  /** An operator replays it when it is a dead letter. */
  readonly replayed: boolean;
}

/**
 * A whole schedule as data. `choices` say who goes on, one number a step; what there is to choose from depends on what
 * happened before. When they are used up, everything is let go.
 */
export interface Plan {
  readonly intents: readonly PlannedIntent[];
  /** Awaits, counted from 0, that take that long, in ms: the process was stopped, or the network was slow. */
  readonly stalls: readonly { readonly nth: number; readonly ms: number }[];
  /** Life of the run, in ms; a short one ends while its intents wait. */
  readonly runMs: number;
  readonly choices: readonly number[];
  /** Publishes, counted from 0, that nobody acknowledges; `stored`: the bus has the messages all the same. */
  readonly unheard: readonly { readonly nth: number; readonly stored: boolean }[];
}

/** Choices are read as who (the low four bits) and which (the others). */
export const choicesEnd = 1 << 12;

const conductsOf = (kind: Kind): readonly Conduct[] =>
  kind === 'accepted' ? conducts : conducts.filter((conduct) => conduct !== 'accepts');

const planned: fc.Arbitrary<PlannedIntent> = fc
  .constantFrom(...kinds, 'keyed', 'searched', 'conditional')
  .chain((kind) =>
    fc.record({
      kind: fc.constant(kind),
      calls: fc.array(fc.constantFrom(...conductsOf(kind)), { minLength: 1, maxLength: 3, size: 'max' }),
      lookups: fc.array(fc.constantFrom('truth', 'error'), { maxLength: 3 }),
      submits: fc.integer({ min: 1, max: 3 }),
      conflict: fc.boolean(),
      cancelled: fc.boolean(),
      replayed: fc.boolean(),
    }),
  );

export const plans: fc.Arbitrary<Plan> = fc.record({
  intents: fc.array(planned, { minLength: 1, maxLength: 3, size: 'max' }),
  runMs: fc.constantFrom(3_600_000, 3_600_000, 3_600_000, 5_000),
  stalls: fc.array(fc.record({ nth: fc.nat(100), ms: fc.constantFrom(1_000, 2_500, 6_000, 15_000, 45_000) }), {
    maxLength: 5,
    size: 'max',
  }),
  choices: fc.array(fc.nat(choicesEnd - 1), { maxLength: 120, size: 'max' }),
  unheard: fc.array(fc.record({ nth: fc.nat(8), stored: fc.boolean() }), { maxLength: 3, size: 'max' }),
});
