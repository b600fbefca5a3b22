import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { effects } from './samples.spec-helper.js';
import { type Action, dueAt, type Sending, Simulation } from './simulation.spec-helper.js';
import { isTerminal } from './state.js';
import type { Guarantee, LookupAuthority, Terms } from './terms.js';
import { type Fate, fates } from './upstream.spec-helper.js';

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
    effect: fc.constantFrom(...effects),
    maxAttempts: ms(1, 3),
    leaseMs: ms(2, 40),
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
const sending: fc.Arbitrary<Sending> = fc.record({
  fate: fc.constantFrom(...fates),
  leave: share,
  work: share,
  answer: share,
  transient: fc.boolean(),
});

const weighted = (weight: number, arbitrary: fc.Arbitrary<Action>) => ({ weight, arbitrary });
const works = fc.oneof({ weight: 3, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) });

const honest = [
  weighted(4, fc.record({ do: fc.constant('wait' as const), ms: fc.oneof(ms(0, 20), ms(0, 150)) })),
  weighted(3, fc.constant<Action>({ do: 'wait_until_due' })),
  weighted(
    6,
    sending.map((how) => ({ do: 'dispatch' as const, ...how })),
  ),
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
      .tuple(sending, fc.constantFrom<Fate>('executed_silently', 'crash_after_sending', 'lost', 'refused'))
      .map(([how, fate]) => ({ do: 'dispatch' as const, ...how, fate })),
  ),
  weighted(2, fc.record({ do: fc.constant('report' as const), pick, jitter: pick })),
  weighted(2, fc.constant<Action>({ do: 'expire_lease' })),
  weighted(2, fc.record({ do: fc.constant('wait' as const), ms: ms(0, 40) })),
  weighted(3, fc.record({ do: fc.constant('reconcile' as const), works: fc.constant(true), early: fc.boolean() })),
  weighted(2, fc.record({ do: fc.constant('ask' as const), works: fc.constant(true) })),
  weighted(2, fc.record({ do: fc.constant('answer' as const), pick })),
  weighted(1, fc.constantFrom<Action>({ do: 'replay' }, { do: 'wait_until_due' })),
];

const lying = [
  weighted(4, fc.record({ do: fc.constant('lie' as const), pick, fate: fc.constantFrom(...fates) })),
  weighted(2, fc.record({ do: fc.constant('lie_about_presence' as const), present: fc.boolean() })),
];

interface Life {
  readonly terms: Terms;
  readonly expiresAt: number;
  readonly actions: readonly Action[];
}

function lifeOf(...actions: readonly ReturnType<typeof weighted>[]): fc.Arbitrary<Life> {
  return fc.record({
    terms: termsOf,
    expiresAt: fc.oneof(ms(1, 500), fc.constant(100_000)),
    actions: fc.array(fc.oneof(...actions), { maxLength: 80, size: 'max' }),
  });
}

/** A write with attempts and authority to spare, so that its resends come about. */
const doubtfulLife = lifeOf(...doubtful).map(({ terms, actions }) => ({
  terms: { ...terms, effect: 'write' as const, maxAttempts: terms.maxAttempts + 1 },
  expiresAt: 100_000,
  actions,
}));

function live({
  terms,
  expiresAt,
  actions,
}: {
  terms: Terms;
  expiresAt: number;
  actions: readonly Action[];
}): Simulation {
  const simulation = new Simulation(terms, expiresAt);
  for (const next of actions) simulation.act(next);
  return simulation;
}

describe('whatever happens, in whatever order', () => {
  it('no effect is doubled, none is denied, and every step keeps the invariants', () => {
    fc.assert(
      fc.property(lifeOf(...honest), (story) => {
        live(story);
      }),
      { numRuns: 1_000 },
    );
  });

  it('no effect is doubled or denied when nearly every answer is lost', () => {
    fc.assert(
      fc.property(doubtfulLife, (story) => {
        live(story);
      }),
      { numRuns: 1_000 },
    );
  });

  it('every step keeps the invariants even when the upstream does not keep its promises', () => {
    fc.assert(
      fc.property(lifeOf(...honest, ...lying), (story) => {
        live(story);
      }),
      { numRuns: 600 },
    );
  });

  it('the sweepers alone bring every intent to an end or to a person', () => {
    const helpless = fc.record({ fates: fc.array(sending, { minLength: 8, maxLength: 8 }), works });
    fc.assert(
      fc.property(lifeOf(...honest), helpless, (story, { fates: coming, works }) => {
        const simulation = live(story);
        for (let steps = 0; !atRest(simulation); steps += 1) {
          expect(steps, 'steps of the sweepers').toBeLessThan(120);
          simulation.now = Math.max(simulation.now, dueAt(simulation.intent));
          expect(sweep(simulation, coming, works), 'progress of a sweeper that was due').toBe(true);
        }
      }),
      { numRuns: 800 },
    );
  });
});

function atRest({ intent }: Simulation): boolean {
  return intent !== null && (isTerminal(intent) || intent.state === 'dead_lettered');
}

/** One pass of the sweeper in charge; dispatchers may do their part, report or die. */
function sweep(simulation: Simulation, coming: readonly Sending[], works: boolean): boolean {
  const { intent, upstream, now } = simulation;
  switch (intent?.state) {
    case 'authorized': {
      const how = coming[intent.attempts.length % coming.length];
      return how !== undefined && simulation.dispatch(how);
    }
    case 'dispatching':
      return simulation.report(upstream.requests.at(-1), 0) || simulation.execute({ type: 'expire_lease', jitter: 0 });
    case 'accepted':
      if (intent.proposal.terms.poll) {
        return simulation.execute({ type: 'record_poll', answer: upstream.poll(now, works), askedAt: now });
      }
      return simulation.execute({ type: 'record_lookup', answer: upstream.ask(now, works), askedAt: now });
    case 'unknown':
      return simulation.execute({ type: 'record_lookup', answer: upstream.ask(now, works), askedAt: now });
    default:
      return false;
  }
}
