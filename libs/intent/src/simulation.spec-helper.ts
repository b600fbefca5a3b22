import { expect } from 'vitest';
import type { Command } from './commands.js';
import { type Entry, step } from './invariants.spec-helper.js';
import { proposal } from './samples.spec-helper.js';
import type { Intent } from './state.js';
import type { Terms } from './terms.js';
import { type Fate, type Request, Upstream, verdictOf } from './upstream.spec-helper.js';
import type { LookupAnswer } from './verdict.js';

export interface Sending {
  readonly fate: Fate;
  readonly leave: number;
  readonly work: number;
  readonly answer: number;
  readonly transient: boolean;
}

/** What somebody, the network or the clock does next. `pick` chooses among what is there to choose from. */
export type Action =
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'wait_until_due' }
  | ({ readonly do: 'dispatch' } & Sending)
  | { readonly do: 'redeliver_start'; readonly pick: number }
  | { readonly do: 'report'; readonly pick: number; readonly jitter: number }
  | { readonly do: 'ask'; readonly works: boolean }
  | { readonly do: 'answer'; readonly pick: number }
  /** A pass of the reconciler, from the due time to the answer; `early`: another one, which does not wait. */
  | { readonly do: 'reconcile'; readonly works: boolean; readonly early: boolean }
  /** The same for a request that was accepted. */
  | { readonly do: 'poll'; readonly works: boolean; readonly early: boolean }
  /** An upstream, or something between, that says what is not so. */
  | { readonly do: 'lie'; readonly pick: number; readonly fate: Fate }
  | { readonly do: 'lie_about_presence'; readonly present: boolean }
  | { readonly do: 'expire_lease' | 'expire' | 'cancel' | 'replay' | 'resolve' | 'submit_again' };

/** One intent, its upstream and everybody who works on it; every answer may come late, twice or never. */
export class Simulation {
  now = 0;
  intent: Intent | null = null;
  readonly upstream: Upstream;
  readonly log: Entry[] = [];
  private readonly record: Command;
  /** False once something lied: then the promises are off, the invariants are not. */
  private honest = true;
  private readonly answers: { answer: LookupAnswer; askedAt: number }[] = [];

  constructor(terms: Terms, expiresAt: number) {
    this.upstream = new Upstream(terms);
    this.record = { type: 'record', proposal: proposal(terms, { expiresAt }), ruling: { allow: true } };
    this.execute(this.record);
  }

  execute(command: Command): boolean {
    const { intent, entries, decision } = step(command, this.intent, this.log, this.now);
    this.intent = intent;
    this.log.push(...entries);
    if (entries.length > 0) this.judge();
    return decision.kind === 'accepted';
  }

  act(action: Action): void {
    switch (action.do) {
      case 'wait':
        this.now += action.ms;
        return;
      case 'wait_until_due':
        this.now = Math.max(this.now, dueAt(this.intent));
        return;
      case 'dispatch':
        this.dispatch(action);
        return;
      case 'redeliver_start': {
        const request = this.pick(this.upstream.requests, action.pick);
        if (request) this.execute({ type: 'start_attempt', attemptId: request.attemptId });
        return;
      }
      case 'report':
        this.report(this.pick(this.upstream.requests, action.pick), action.jitter);
        return;
      case 'ask':
        this.answers.push({ answer: this.upstream.ask(this.now, action.works), askedAt: this.now });
        return;
      case 'answer': {
        const answer = this.pick(this.answers, action.pick);
        if (answer) this.execute({ type: 'record_lookup', ...answer });
        return;
      }
      case 'reconcile':
        if (!action.early) this.now = Math.max(this.now, dueAt(this.intent));
        this.execute({ type: 'record_lookup', answer: this.upstream.ask(this.now, action.works), askedAt: this.now });
        return;
      case 'poll':
        if (!action.early) this.now = Math.max(this.now, dueAt(this.intent));
        this.execute({ type: 'record_poll', answer: this.upstream.poll(this.now, action.works), askedAt: this.now });
        return;
      case 'lie': {
        const request = this.pick(this.upstream.requests, action.pick);
        const verdict = verdictOf(action.fate, true);
        if (!request || !verdict) return;
        this.honest = false;
        this.execute({ type: 'record_verdict', attemptId: request.attemptId, verdict, jitter: 0 });
        return;
      }
      case 'lie_about_presence': {
        this.honest = false;
        const answer: LookupAnswer = action.present ? { kind: 'present', data: 'other' } : { kind: 'absent' };
        this.execute({ type: 'record_lookup', answer, askedAt: this.now });
        return;
      }
      case 'resolve': {
        const outcome = this.upstream.effects(this.now) > 0 ? 'executed' : 'not_executed';
        this.execute({ type: 'resolve', by: 'olga', outcome, externalId: null, evidence: 'looked' });
        return;
      }
      case 'expire_lease':
        this.execute({ type: 'expire_lease', jitter: 0 });
        return;
      case 'expire':
        this.execute({ type: 'expire' });
        return;
      case 'cancel':
        this.execute({ type: 'cancel', by: 'ann' });
        return;
      case 'replay':
        this.execute({ type: 'replay', by: 'olga', reason: 'again' });
        return;
      case 'submit_again':
        expect(this.execute(this.record)).toBe(false);
        return;
    }
  }

  /** The dispatcher: the attempt is recorded first, and only then is anything sent. */
  dispatch(sending: Sending): boolean {
    const attemptId = `try-${this.upstream.requests.length + 1}`;
    const before = this.intent?.attempts.length ?? 0;
    const accepted = this.execute({ type: 'start_attempt', attemptId });
    if ((this.intent?.attempts.length ?? 0) > before) this.upstream.send(attemptId, sending.fate, this.now, sending);
    return accepted;
  }

  report(request: Request | undefined, jitter: number): boolean {
    if (!request?.verdict || request.answeredAt > this.now) return false;
    return this.execute({ type: 'record_verdict', attemptId: request.attemptId, verdict: request.verdict, jitter });
  }

  /** What was said against what happened: the promises of the product. */
  private judge(): void {
    const { intent, upstream } = this;
    if (!this.honest || !intent || intent.proposal.terms.effect === 'read') return;
    expect(upstream.effects(), 'effects').toBeLessThanOrEqual(1);
    if (intent.state === 'committed') expect(upstream.effects(this.now), 'effects when committed').toBe(1);
    if (intent.state === 'failed' || intent.state === 'cancelled' || intent.state === 'expired') {
      expect(upstream.effects(), `effects when ${intent.state}, now or later`).toBe(0);
    }
    expect(intent.corrections.filter((c) => c.finding === 'second_effect')).toEqual([]);
  }

  private pick<T>(from: readonly T[], pick: number): T | undefined {
    return from[Math.floor(pick * from.length)];
  }
}

/** The next moment at which a sweeper or a dispatcher has something to do. */
export function dueAt(intent: Intent | null): number {
  switch (intent?.state) {
    case 'authorized':
      return intent.notBefore ?? 0;
    case 'dispatching':
      return intent.attempt.leaseUntil;
    case 'accepted':
    case 'unknown':
      return intent.dueAt;
    default:
      return 0;
  }
}
