import { isTerminal } from '@intendant/intent';
import fc from 'fast-check';
import { demand } from './broken.js';
import {
  askedLives,
  doubtfulLives,
  honestLives,
  type Life,
  lyingLives,
  overdueLives,
  sendings,
  works,
} from './lives.js';
import { people } from './people.js';
import { dueAt, Simulation } from './simulation.js';
import type { Decide } from './step.js';
import type { Sending } from './upstream.js';

/** A life, and how dispatchers and upstream do while the sweepers bring it to an end. */
export interface Trial {
  readonly life: Life;
  readonly then: {
    readonly sendings: readonly Sending[];
    readonly works: boolean;
    /** What people do who are asked; null: nothing. */
    readonly people: 'approve' | 'refuse' | null;
  };
}

/** What must be true of every life of a kind. */
export interface Property {
  readonly name: string;
  readonly trials: fc.Arbitrary<Trial>;
  /** Lives it to its end. Whoever wants to see how it went passes `simulation`. @throws Broken */
  live(trial: Trial, simulation: Simulation): void;
}

const endings = fc.record({
  sendings: fc.array(sendings, { minLength: 8, maxLength: 8 }),
  works,
  people: fc.constantFrom('approve', 'refuse', null),
});
const trialsOf = (life: fc.Arbitrary<Life>): fc.Arbitrary<Trial> => fc.record({ life, then: endings });

export const allProperties: readonly Property[] = [
  {
    name: 'no effect is doubled, none is denied, and every step keeps the invariants',
    trials: trialsOf(honestLives),
    live: liveOut,
  },
  {
    name: 'no effect is doubled or denied when nearly every answer is lost',
    trials: trialsOf(doubtfulLives),
    live: liveOut,
  },
  {
    name: 'a remembered key lets one effect through when senders and upstream overstep their time',
    trials: trialsOf(overdueLives),
    live: liveOut,
  },
  {
    name: 'every step keeps the invariants even when the upstream does not keep its promises',
    trials: trialsOf(lyingLives),
    live: liveOut,
  },
  {
    name: 'nothing is sent that people have not agreed to as it is, in time and enough of them',
    trials: trialsOf(askedLives),
    live: liveOut,
  },
  {
    name: 'what waits for people is decided or expires, and what they have agreed to is sent or asked about anew',
    trials: trialsOf(askedLives),
    live: (trial, simulation) => {
      liveOut(trial, simulation);
      sweepToRest(trial.then, simulation);
    },
  },
  {
    name: 'the sweepers alone bring every intent to an end or to a person',
    trials: trialsOf(honestLives),
    live: (trial, simulation) => {
      liveOut(trial, simulation);
      sweepToRest(trial.then, simulation);
    },
  },
];

export function begin(decide: Decide, { life }: Trial): Simulation {
  return new Simulation(decide, life.terms, life.expiresAt, life.asks);
}

function liveOut({ life }: Trial, simulation: Simulation): void {
  for (const next of life.actions) simulation.act(next);
  simulation.end();
}

/** More steps than any life of these terms needs. */
const maxSweeps = 120;

function sweepToRest(then: Trial['then'], simulation: Simulation): void {
  // From here on nothing is broken any more.
  simulation.act({ do: 'lag', ms: 0 });
  for (let sweeps = 0; !isAtRest(simulation); sweeps += 1) {
    const state = simulation.intent?.state;
    demand(sweeps < maxSweeps, 'I3', `still ${state} after ${sweeps} passes of the sweepers`);
    // People are there before the time is over.
    if (decided(then, simulation)) continue;
    simulation.now = Math.max(simulation.now, dueAt(simulation.intent));
    demand(sweep(then, simulation), 'I3', `the sweeper of ${state} was due and changed nothing`);
  }
  simulation.end();
}

/** Those who may answer to what they are asked; false where they have nothing to say any more. */
function decided({ people: answer }: Trial['then'], simulation: Simulation): boolean {
  if (simulation.intent?.state !== 'awaiting_approval' || answer === null) return false;
  return [0, 1].some((i) => simulation.answerPeople({ do: answer, who: (i + 0.5) / people.length, of: null }));
}

function isAtRest({ intent }: Simulation): boolean {
  return intent !== null && (isTerminal(intent) || intent.state === 'dead_lettered');
}

/** One pass of the sweeper in charge; dispatchers may do their part, report or die. */
function sweep({ sendings, works }: Trial['then'], simulation: Simulation): boolean {
  const { intent, upstream, now } = simulation;
  switch (intent?.state) {
    case 'awaiting_approval':
      return simulation.execute({ type: 'expire' });
    case 'authorized': {
      const how = sendings[intent.attempts.length % sendings.length];
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
