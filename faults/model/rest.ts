import {
  type Command,
  type decide as decideByTheRules,
  evolve,
  type Intent,
  isTerminal,
  type LookupAnswer,
} from '@intendant/intent';
import { demand } from './broken.js';
import { dueAt } from './simulation.js';
import type { Bounds, World } from './world.js';

/** More steps than any way to rest takes within the bounds. */
const maxSteps = 60;

/**
 * From every state, fresh processes and passing time alone must bring the intent to an end or to a person: with an
 * upstream that answers, and with one that never does. Whoever is still at something has stopped for good.
 */
export class Rest {
  private readonly checked = new Set<string>();

  constructor(
    private readonly decide: typeof decideByTheRules,
    private readonly bounds: Bounds,
  ) {}

  /** @throws Broken */
  check(world: World, intent: Intent): void {
    const happened = world.requests.some(({ is }) => is === 'done' || is === 'working' || is === 'promised');
    const key = `${world.intent} ${world.now} ${happened}`;
    if (this.checked.has(key)) return;
    this.checked.add(key);
    this.bringToRest(intent, world.now, happened ? present : absent, true);
    this.bringToRest(intent, world.now, cannotTell, false);
  }

  private bringToRest(from: Intent, now: number, lookup: LookupAnswer, answers: boolean): void {
    let intent = from;
    let time = now + this.bounds.processing + this.bounds.lookupLag;
    for (let steps = 0; !isTerminal(intent) && intent.state !== 'dead_lettered'; steps += 1) {
      demand(steps < maxSteps, 'I3', `still ${intent.state} after ${steps} steps of the sweepers`);
      time = Math.max(time, dueAt(intent));
      const command = next(intent, time, this.bounds.terms.lookup === 'none' ? cannotTell : lookup, answers);
      const decision = this.decide(command, intent, time);
      demand(decision.kind === 'accepted', 'I3', `${intent.state} was due, and ${command.type} changed nothing`);
      for (const event of decision.events) intent = evolve(intent, event, time);
    }
  }
}

const present: LookupAnswer = { kind: 'present', data: 'receipt' };
const absent: LookupAnswer = { kind: 'absent' };
const cannotTell: LookupAnswer = { kind: 'cannot_tell', detail: '' };

function next(intent: Intent, now: number, answer: LookupAnswer, answers: boolean): Command {
  switch (intent.state) {
    case 'authorized':
      if (now >= intent.expiresAt) return { type: 'expire' };
      return { type: 'start_attempt', attemptId: `try-${intent.attempts.length + 1}` };
    case 'dispatching': {
      if (!answers) return { type: 'expire_lease', jitter: 0 };
      const { attemptId } = intent.attempt;
      return { type: 'record_verdict', attemptId, verdict: { kind: 'executed', data: 'receipt' }, jitter: 0 };
    }
    default:
      return { type: 'record_lookup', answer, askedAt: now };
  }
}
