import { type Attempt, type Command, type Decision, type Intent, isTerminal, keepsKey } from '@intendant/intent';
import { Broken } from './broken.js';
import { type Decide, evolved, wellFormed } from './step.js';

/** What one append wrote. */
export interface Page {
  /** Number of the intent after it. */
  readonly intent: number;
  readonly events: Extract<Decision, { kind: 'accepted' }>['events'];
  /** What is wrong with it, if anything is. */
  readonly broken: Broken | null;
}

/**
 * Every intent that an exploration came across, once each, under a number; and every decision, made once.
 */
export class Book {
  private readonly intents: Intent[] = [];
  private readonly numbers = new Map<string, number>();
  private readonly decisions = new Map<string, Page | null>();

  constructor(private readonly decide: Decide) {}

  get size(): number {
    return this.intents.length;
  }

  at(number: number): Intent {
    return this.intents[number] as Intent;
  }

  /** Null where the command changes nothing. */
  append(number: number, command: Command, at: number): Page | null {
    const question = `${number} ${at} ${wordOf(command)}`;
    const known = this.decisions.get(question);
    if (known !== undefined) return known;
    const page = this.write(this.at(number), command, at);
    this.decisions.set(question, page);
    return page;
  }

  /** The first append of all. */
  record(command: Extract<Command, { type: 'record' }>, at: number): number {
    return (this.write(null, command, at) as Page).intent;
  }

  private write(before: Intent | null, command: Command, now: number): Page | null {
    const decision = this.decide(command, before, now);
    if (decision.kind !== 'accepted') return null;
    const { events } = decision;
    const at = Math.max(now, before?.since ?? 0);
    let intent = before;
    try {
      for (const event of events) intent = evolved(intent, event, at);
      wellFormed(intent as Intent);
    } catch (error) {
      if (error instanceof Broken) return { intent: 0, events, broken: error };
      throw error;
    }
    return { intent: this.number(intent as Intent), events, broken: null };
  }

  private number(intent: Intent): number {
    const telling = whatTells(intent);
    const key = JSON.stringify({ ...telling, proposal: null });
    const known = this.numbers.get(key);
    if (known !== undefined) return known;
    this.intents.push(telling);
    this.numbers.set(key, this.intents.length - 1);
    return this.intents.length - 1;
  }
}

/** The intent without what no rule looks at any more. */
function whatTells(intent: Intent): Intent {
  const keyed = keepsKey(intent.proposal.terms);
  const attempts = intent.attempts.map((attempt, i) => {
    const dated = (keyed && i === 0) || i === intent.attempts.length - 1;
    const { verdict, startedAt, leaseUntil } = attempt;
    return {
      ...attempt,
      cause: null,
      startedAt: dated ? startedAt : 0,
      leaseUntil: verdict === 'open' ? leaseUntil : 0,
    };
  });
  const core = { ...intent, version: 0, attempts, ...('detail' in intent && { detail: '' }) };
  switch (core.state) {
    case 'dispatching':
      return { ...core, attempt: attempts.at(-1) as Attempt };
    case 'unknown':
      return { ...core, asked: Math.min(core.asked, 1), cause: core.cause === 'replay_requested' ? core.cause : '' };
    case 'accepted':
      return { ...core, asked: Math.min(core.asked, 1) };
    case 'authorized':
      return { ...core, since: 0 };
    default:
      return isTerminal(core) ? { ...core, since: 0 } : core;
  }
}

/** Different for commands that an exploration gives and that may be decided differently. */
function wordOf(command: Command): string {
  switch (command.type) {
    case 'start_attempt':
      return command.attemptId;
    case 'record_verdict':
      return `${command.attemptId} ${command.verdict.kind} ${'cause' in command.verdict ? command.verdict.cause : ''}`;
    case 'record_lookup':
      return `${command.answer.kind} ${command.askedAt} ${command.answeredAt}`;
    case 'resolve':
      return command.outcome;
    default:
      return command.type;
  }
}
