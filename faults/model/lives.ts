import type { Effect, Guarantee, LookupAuthority, Terms } from '@intendant/intent';
import fc from 'fast-check';
import { type Asks, people } from './people.js';
import type { Action } from './simulation.js';
import { type Fate, fates, type Sending } from './upstream.js';

/** What happens to one intent, from its submit on. */
export interface Life {
  readonly terms: Terms;
  readonly expiresAt: number;
  /** Left out: nobody is asked. */
  readonly asks?: Asks;
  readonly actions: readonly Action[];
}

const promises = fc.constantFrom<{ guarantee: Guarantee; lookup: LookupAuthority }>(
  { guarantee: 'idempotency_key', lookup: 'authoritative' },
  { guarantee: 'idempotency_key', lookup: 'presence_only' },
  { guarantee: 'idempotency_key', lookup: 'none' },
  { guarantee: 'conditional_create', lookup: 'authoritative' },
  { guarantee: 'conditional_create', lookup: 'none' },
  { guarantee: 'lookup', lookup: 'authoritative' },
  { guarantee: 'lookup', lookup: 'presence_only' },
  { guarantee: 'none', lookup: 'authoritative' },
  { guarantee: 'none', lookup: 'none' },
);

const ms = (min: number, max: number) => fc.integer({ min, max });

const termsOf: fc.Arbitrary<Terms> = fc
  .record({
    promise: promises,
    effect: fc.constantFrom<Effect>('read', 'write', 'destructive'),
    maxAttempts: ms(1, 3),
    leaseMs: ms(4, 40),
    settleMs: ms(0, 100),
    spacingMs: ms(0, 30),
    retentionMs: fc.oneof(ms(0, 300), fc.constant(10_000)),
    deadlineMs: ms(0, 400),
    backoffMs: ms(1, 20),
    poll: fc.option(fc.record({ everyMs: ms(10, 40), deadlineMs: ms(0, 400) })),
  })
  .map(({ promise, ...rest }) => ({ ...promise, ...rest }));

const share = fc.double({ min: 0, max: 1, noNaN: true });
const pick = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
export const sendings: fc.Arbitrary<Sending> = fc.record({
  fate: fc.constantFrom(...fates),
  leave: share,
  work: share,
  lag: share,
  answer: share,
  transient: fc.boolean(),
});
/** By a sender that is stopped after its last look at the lease, to an upstream that takes longer than it declares. */
const overdue = fc
  .tuple(sendings, fc.double({ min: 1, max: 6, noNaN: true }), fc.double({ min: 1, max: 4, noNaN: true }), fc.boolean())
  .map(([how, leave, work, stopped]) => (stopped ? { ...how, leave } : { ...how, work }));

const weighted = (weight: number, arbitrary: fc.Arbitrary<Action>) => ({ weight, arbitrary });
export const works = fc.oneof(
  { weight: 3, arbitrary: fc.constant(true) },
  { weight: 1, arbitrary: fc.constant(false) },
);
const dispatch = (how: Sending): Action => ({ do: 'dispatch', ...how });

const honest = [
  weighted(4, fc.record({ do: fc.constant('wait' as const), ms: fc.oneof(ms(0, 20), ms(0, 150)) })),
  weighted(3, fc.constant<Action>({ do: 'wait_until_due' })),
  weighted(1, fc.record({ do: fc.constant('lag' as const), ms: ms(1, 3) })),
  weighted(6, sendings.map(dispatch)),
  weighted(1, fc.record({ do: fc.constant('redeliver_start' as const), pick })),
  weighted(4, fc.record({ do: fc.constant('report' as const), pick, jitter: pick })),
  weighted(2, fc.record({ do: fc.constant('ask' as const), works })),
  weighted(3, fc.record({ do: fc.constant('answer' as const), pick })),
  weighted(5, fc.record({ do: fc.constant('reconcile' as const), works, early: fc.boolean() })),
  weighted(2, fc.record({ do: fc.constant('poll' as const), works, early: fc.boolean() })),
  weighted(3, fc.constant<Action>({ do: 'expire_lease' })),
  weighted(2, fc.constantFrom<Action>({ do: 'expire' }, { do: 'replay' }, { do: 'submit_again' })),
  weighted(2, fc.constantFrom<Action>({ do: 'cancel' }, { do: 'resolve' })),
];

/** Short on people and long on doubt: silence, lookups and resends, where an effect is doubled most easily. */
const doubtful = [
  weighted(
    4,
    fc
      .tuple(sendings, fc.constantFrom<Fate>('executed_silently', 'crash_after_sending', 'lost', 'refused'))
      .map(([how, fate]) => dispatch({ ...how, fate })),
  ),
  weighted(2, fc.record({ do: fc.constant('report' as const), pick, jitter: pick })),
  weighted(2, fc.constant<Action>({ do: 'expire_lease' })),
  weighted(2, fc.record({ do: fc.constant('wait' as const), ms: ms(0, 40) })),
  weighted(1, fc.record({ do: fc.constant('lag' as const), ms: ms(1, 3) })),
  weighted(3, fc.record({ do: fc.constant('reconcile' as const), works: fc.constant(true), early: fc.boolean() })),
  weighted(2, fc.record({ do: fc.constant('ask' as const), works: fc.constant(true) })),
  weighted(2, fc.record({ do: fc.constant('answer' as const), pick })),
  weighted(1, fc.constantFrom<Action>({ do: 'replay' }, { do: 'wait_until_due' })),
];

const lying = [
  weighted(4, fc.record({ do: fc.constant('lie' as const), pick, fate: fc.constantFrom(...fates) })),
  weighted(2, fc.record({ do: fc.constant('lie_about_presence' as const), present: fc.boolean() })),
];

/** `who`: mostly those who may. */
const who = fc.oneof({ weight: 4, arbitrary: ms(0, 1) }, { weight: 1, arbitrary: ms(2, people.length - 1) });
const whom = who.map((i) => (i + 0.5) / people.length);
const said = fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: pick });

const asked = [
  weighted(8, fc.record({ do: fc.constant('approve' as const), who: whom, of: said })),
  weighted(1, fc.record({ do: fc.constant('refuse' as const), who: whom, of: said })),
  weighted(1, fc.record({ do: fc.constant('withdraw' as const), who: whom })),
  weighted(2, fc.record({ do: fc.constant('change_files' as const), files: fc.constantFrom<0 | 1>(0, 1) })),
  weighted(2, fc.constant<Action>({ do: 'look' })),
  weighted(
    2,
    fc.tuple(sendings, pick).map(([how, which]): Action => ({ do: 'dispatch_late', pick: which, ...how })),
  ),
  weighted(
    2,
    sendings.map((how) => dispatch({ ...how, fate: 'not_sent', transient: true })),
  ),
];

/** While one tool file takes the place of another, services have either; what cannot be sent is tried again. */
const rolled = [
  weighted(4, fc.record({ do: fc.constant('approve' as const), who: whom, of: fc.constant(null) })),
  weighted(4, fc.record({ do: fc.constant('change_files' as const), files: fc.constantFrom<0 | 1>(0, 1) })),
  weighted(
    4,
    sendings.map((how) => dispatch({ ...how, fate: 'not_sent', transient: true })),
  ),
  weighted(1, sendings.map(dispatch)),
  weighted(3, fc.record({ do: fc.constant('report' as const), pick, jitter: pick })),
  weighted(3, fc.constant<Action>({ do: 'wait_until_due' })),
  weighted(1, fc.record({ do: fc.constant('withdraw' as const), who: whom })),
];

const asks: fc.Arbitrary<Asks> = fc.record({
  quorum: ms(1, 2),
  selfApproval: fc.boolean(),
  ttlMs: fc.oneof(ms(1, 300), fc.constant(100_000)),
});

function lifeOf(...actions: readonly ReturnType<typeof weighted>[]): fc.Arbitrary<Life> {
  return fc.record({
    terms: termsOf,
    expiresAt: fc.oneof(ms(1, 500), fc.constant(100_000)),
    actions: fc.array(fc.oneof(...actions), { maxLength: 80, size: 'max' }),
  });
}

/** A write with attempts and authority to spare, so that its resends come about. */
function resent(life: fc.Arbitrary<Life>): fc.Arbitrary<Life> {
  return life.map(({ terms, actions }) => ({
    terms: { ...terms, effect: 'write', maxAttempts: terms.maxAttempts + 1 },
    expiresAt: 100_000,
    actions,
  }));
}

/** Everybody does what is declared of them. */
export const honestLives = lifeOf(...honest);
/** The same, and nearly every answer is lost. */
export const doubtfulLives = resent(lifeOf(...doubtful));
/** Senders stopped beyond their lease, effects beyond the declared processing time. */
export const overdueLives = resent(lifeOf(...doubtful, weighted(4, overdue.map(dispatch))));
const withPeople = (life: fc.Arbitrary<Life>): fc.Arbitrary<Life> =>
  fc
    .tuple(life, asks)
    .map(([life, asked]): Life => ({ ...life, terms: { ...life.terms, effect: 'write' }, asks: asked }));
/** People are asked first, and services have one tool file or another. */
export const askedLives = fc.oneof(withPeople(lifeOf(...honest, ...asked)), withPeople(resent(lifeOf(...rolled))));
/** Upstreams that say what is not so. */
export const lyingLives = lifeOf(...honest, ...lying);
