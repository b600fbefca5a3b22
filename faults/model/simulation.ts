import {
  type Command,
  type Decision,
  type In,
  type Intent,
  isFinished,
  keepsKey,
  type LookupAnswer,
  type Terms,
} from '@intendant/intent';
import type { TimelineLine } from '../history/violation.js';
import { demand } from './broken.js';
import { type Asks, checkAgreed, type Files, type Look, lookAt, mayRefuse, people, requestOf } from './people.js';
import { proposalOf } from './proposal.js';
import { type Decide, type Entry, foldsTo, step } from './step.js';
import { dangerousState, fateOf, told } from './story.js';
import { clockSkewMs, type Fate, type Request, type Sending, Upstream, verdictOf } from './upstream.js';

/** What somebody, the network or the clock does next. `pick` chooses among what is there to choose from. */
export type Action =
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'wait_until_due' }
  /** The next decision is made by a clock that lags, or was made a moment ago and is written only now. */
  | { readonly do: 'lag'; readonly ms: number }
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
  /** Services get another tool file, or policy. */
  | { readonly do: 'change_files'; readonly files: Files }
  /** `of`: which request that was made so far is meant, as a share; null: the newest. */
  | { readonly do: 'approve' | 'refuse'; readonly who: number; readonly of: number | null }
  | { readonly do: 'withdraw'; readonly who: number }
  /** A dispatcher looks at the approvals, and is held up. */
  | { readonly do: 'look' }
  /** It goes on with what it saw. */
  | ({ readonly do: 'dispatch_late'; readonly pick: number } & Sending)
  | { readonly do: 'expire_lease' | 'expire' | 'cancel' | 'replay' | 'resolve' | 'submit_again' };

/** Which promises hold: all; only that a remembered key keeps effects from doubling; or none, but the invariants of each step. */
type Promised = 'all' | 'one_effect_per_key' | 'nothing';

/** One intent, its upstream and everybody who works on it; every answer may come late, twice or never. */
export class Simulation {
  now = 0;
  intent: Intent | null = null;
  readonly upstream: Upstream;
  readonly log: Entry[] = [];
  readonly story: TimelineLine[] = [];
  /** Dangerous states that came about. */
  readonly reached = new Set<string>();
  private readonly record: Command;
  private promised: Promised = 'all';
  private writtenAt = 0;
  private lag = 0;
  private files: Files = 0;
  private readonly looks: Look[] = [];
  private last: Decision = { kind: 'unchanged' };
  private readonly answers: { answer: LookupAnswer; askedAt: number; answeredAt: number }[] = [];

  constructor(
    private readonly decide: Decide,
    private readonly terms: Terms,
    expiresAt: number,
    /** Null: nobody is asked. */
    private readonly asks: Asks | null = null,
  ) {
    this.upstream = new Upstream(terms);
    const ruling = asks
      ? ({ allow: 'approved', request: requestOf(asks, 0, 0, Math.min(asks.ttlMs, expiresAt)) } as const)
      : ({ allow: true } as const);
    this.record = { type: 'record', proposal: proposalOf(terms, expiresAt), ruling };
    this.execute(this.record);
  }

  /** True when it changed something. @throws Broken */
  execute(command: Command): boolean {
    const at = Math.max(this.writtenAt, this.now - this.lag);
    this.lag = 0;
    this.story.push({ at: this.now, who: 'log', what: told(command) });
    const { intent, entries, decision } = step(this.decide, command, this.intent, this.log, at);
    if (entries.length > 0 && this.promised !== 'nothing') {
      const types = this.log.map(({ event }) => event.type);
      demand(!isFinished(types, this.terms.effect), 'I12', `${entries[0]?.event.type} came after the last word`);
    }
    this.intent = intent;
    this.last = decision;
    this.log.push(...entries);
    this.agreed(command, entries);
    this.tell(command, entries);
    if (entries.length > 0) {
      this.writtenAt = this.now;
      this.judge();
    }
    return decision.kind === 'accepted';
  }

  /** @throws Broken */
  act(action: Action): void {
    switch (action.do) {
      case 'wait':
        this.now += action.ms;
        return;
      case 'wait_until_due':
        this.now = Math.max(this.now, dueAt(this.intent));
        return;
      case 'lag':
        this.lag = Math.min(action.ms, clockSkewMs(this.terms));
        return;
      case 'dispatch':
        this.dispatch(action);
        return;
      case 'change_files':
        this.files = action.files;
        return;
      case 'approve':
      case 'refuse':
        this.answerPeople(action);
        return;
      case 'withdraw':
        this.takeBack(this.pick(people, action.who)?.name ?? '');
        return;
      case 'look':
        this.look();
        return;
      case 'dispatch_late': {
        const look = this.pick(this.looks, action.pick);
        if (look) this.dispatch(action, look);
        return;
      }
      case 'redeliver_start': {
        const request = this.pick(this.upstream.requests, action.pick);
        if (request) this.execute({ type: 'start_attempt', attemptId: request.attemptId });
        return;
      }
      case 'report':
        this.report(this.pick(this.upstream.requests, action.pick), action.jitter);
        return;
      case 'ask':
        this.answers.push({
          answer: this.upstream.ask(this.now, action.works),
          askedAt: this.now,
          answeredAt: this.now,
        });
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
        this.promised = 'nothing';
        this.execute({ type: 'record_verdict', attemptId: request.attemptId, verdict, jitter: 0 });
        return;
      }
      case 'lie_about_presence': {
        this.promised = 'nothing';
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
        demand(!this.execute(this.record), 'I2', 'the same submit changed the intent');
        return;
    }
  }

  /** The dispatcher: the attempt is recorded first, and only then is anything sent. */
  dispatch(sending: Sending, seen?: Look): boolean {
    const attemptId = `try-${this.upstream.requests.length + 1}`;
    const start = { type: 'start_attempt', attemptId } as const;
    let accepted = this.execute(seen ? { ...start, verified: seen.verified } : start);
    if (this.last.kind === 'rejected' && this.last.reason === 'not_verified' && !seen) {
      const look = this.look();
      if (look) accepted = this.execute({ ...start, verified: look.verified });
    }
    const { intent } = this;
    if (intent?.state !== 'dispatching' || intent.attempt.attemptId !== attemptId) return accepted;
    if (intent.attempts.length > 1) this.reached.add('resend');
    this.upstream.send(attemptId, sending, this.now, intent.attempt.leaseUntil);
    this.whatIsStillPromised(sending, intent);
    this.story.push({
      at: this.now,
      who: 'dispatcher',
      what: `${attemptId}: ${fateOf(this.upstream.requests.at(-1))}`,
    });
    return accepted;
  }

  /** Somebody's yes or no, to what was seen. */
  answerPeople({ do: type, who, of }: Extract<Action, { do: 'approve' | 'refuse' }>): boolean {
    const approver = this.pick(people, who);
    const requests = this.intent?.approvals?.requests ?? [];
    const digest = (of === null ? requests.at(-1) : this.pick(requests, of))?.digest ?? 'none';
    if (!approver) return false;
    if (type === 'approve') return this.execute({ type, approver, digest });
    const counts = of === null && mayRefuse(approver, this.intent);
    const accepted = this.execute({ type, approver, digest: of === null ? null : digest, reason: 'no' });
    demand(!counts || this.intent?.state === 'denied', 'I15', `the refusal of ${approver.name} changed nothing`);
    return accepted;
  }

  /** What was given and not used counts as not given from then on. */
  private takeBack(by: string): void {
    const { intent } = this;
    const counts =
      mayRefuse({ name: by, roles: [], groups: [] }, intent) && intent?.approvals?.given.some((g) => g.by === by);
    const accepted = this.execute({ type: 'withdraw', by });
    demand(!counts || accepted, 'I15', `${by} could not take an approval back`);
  }

  private look(): Look | null {
    const { asks, intent } = this;
    if (asks === null || !intent?.approvals) return null;
    const look = lookAt(asks, this.files, { approvals: intent.approvals, version: intent.version });
    this.looks.push(look);
    return look;
  }

  /** Whoever was asked has agreed to what is started. @throws Broken */
  private agreed(command: Command, entries: readonly Entry[]): void {
    if (this.asks === null || !entries.some(({ event }) => event.type === 'attempt_started')) return;
    const verified = command.type === 'start_attempt' ? command.verified : undefined;
    const look = this.looks.find((each) => each.verified === verified);
    demand(look !== undefined, 'I15', 'an attempt was started, and nobody has looked whether it is what was agreed to');
    checkAgreed(this.log, look.files);
  }

  report(request: Request | undefined, jitter: number): boolean {
    if (!request?.verdict || request.answeredAt > this.now) return false;
    return this.execute({ type: 'record_verdict', attemptId: request.attemptId, verdict: request.verdict, jitter });
  }

  /** What is checked once, at the end of a life. @throws Broken */
  end(): void {
    foldsTo(this.log, this.intent);
    this.judge();
  }

  /** A sender stopped between its last look at the lease and the first byte, or an effect that is late, break what is declared. */
  private whatIsStillPromised({ leave, work }: Sending, { attempts }: Intent): void {
    const beyond = leave > 1 || work > 1;
    if (beyond) this.reached.add('sent or executed beyond what is declared');
    if (beyond && this.promised === 'all') this.promised = 'one_effect_per_key';
    if (this.promised === 'all') return;
    const forgottenAt = (attempts[0]?.startedAt ?? 0) + this.terms.retentionMs;
    const arrivesAt = this.upstream.requests.at(-1)?.arrivesAt ?? 0;
    // Absences prove nothing any more, and neither does a key that is not remembered.
    const allowed = this.log.findLast(({ event }) => event.type === 'authorized')?.event;
    const byKey = allowed?.type === 'authorized' && allowed.basis === 'same_key';
    if (!keepsKey(this.terms) || (arrivesAt >= forgottenAt && (beyond || !byKey))) this.promised = 'nothing';
  }

  /** What was said against what happened: the promises of the product. */
  private judge(): void {
    const { intent, upstream, promised } = this;
    if (promised === 'nothing' || !intent || intent.proposal.terms.effect === 'read') return;
    demand(upstream.effects() <= 1, 'I1', `${upstream.effects()} effects`);
    if (promised === 'one_effect_per_key') return;
    if (intent.state === 'committed') {
      const effects = upstream.effects(this.now);
      demand(effects === 1, 'I4', `committed with ${effects} effects`);
    }
    if (
      intent.state === 'failed' ||
      intent.state === 'denied' ||
      intent.state === 'cancelled' ||
      intent.state === 'expired'
    ) {
      demand(upstream.effects() === 0, 'I11', `${intent.state} with an effect, now or later`);
    }
    const second = intent.corrections.some((c) => c.finding === 'second_effect');
    demand(!second, 'I4', 'a second effect was reported that never was');
  }

  private tell(command: Command, entries: readonly Entry[]): void {
    const led = entries.map(({ event }) => event.type).join(', ') || 'nothing';
    this.story[this.story.length - 1] = { at: this.now, who: 'log', what: `${told(command)}: ${led}` };
    for (const { event } of entries) {
      const state = dangerousState(event);
      if (state) this.reached.add(state);
    }
  }

  private pick<T>(from: readonly T[], pick: number): T | undefined {
    return from[Math.floor(pick * from.length)];
  }
}

/** The next moment at which a sweeper or a dispatcher has something to do. */
export function dueAt(intent: Intent | null): number {
  switch (intent?.state) {
    case 'awaiting_approval':
      return Math.min(intent.expiresAt, lapsesAt(intent));
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

/** What may have run is asked about for as long as the run may act. */
function lapsesAt({ approvals, attempts }: In<'awaiting_approval'>): number {
  const open = attempts.some(({ verdict }) => verdict !== 'not_executed' && verdict !== 'executed');
  return open ? Number.POSITIVE_INFINITY : (approvals.requests.at(-1)?.expiresAt ?? 0);
}
