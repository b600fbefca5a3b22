import { type Command, type Intent, isTerminal } from '@intendant/intent';
import type { Book } from './book.js';
import { absencesAfter, checkStart } from './evidence.js';
import {
  type Bounds,
  type Dispatcher,
  idleDispatcher,
  idleReconciler,
  lookups,
  type Reconciler,
  type Request,
  same,
  verdicts,
  type World,
  withRequest,
} from './world.js';

export type Emit = (who: string, what: string, next: World) => void;

interface Written {
  readonly world: World;
  /** The time that it was decided by. */
  readonly at: number;
  readonly what: string;
}

/** Everything that can happen next. */
export class Moves {
  constructor(
    private readonly book: Book,
    private readonly bounds: Bounds,
  ) {}

  /** @throws Broken */
  of(world: World, emit: Emit): void {
    const intent = this.book.at(world.intent);
    this.clock(world, emit);
    this.upstream(world, intent, emit);
    this.sweepersAndPeople(world, intent, emit);
    const [d0, d1] = world.dispatchers;
    this.dispatcher(world, intent, d0, (d) => ({ dispatchers: [d, d1] }), emit);
    if (!same(d0, d1)) this.dispatcher(world, intent, d1, (d) => ({ dispatchers: [d0, d] }), emit);
    const [r0, r1] = world.reconcilers;
    this.reconciler(world, intent, r0, (r) => ({ reconcilers: [r, r1] }), emit);
    if (!same(r0, r1)) this.reconciler(world, intent, r1, (r) => ({ reconcilers: [r0, r] }), emit);
  }

  private clock(world: World, emit: Emit): void {
    const { horizon, declared, processing } = this.bounds;
    if (world.now >= horizon) return;
    const underWork = ({ is, since }: Request) =>
      (is === 'working' || is === 'promised') && world.now >= since + processing;
    // What is declared is kept: nothing is under work any longer than that.
    if (declared !== 'overdue' && world.requests.some(underWork)) return;
    emit('clock', 'time passes', { ...world, now: world.now + 1 });
  }

  private upstream(world: World, intent: Intent, emit: Emit): void {
    world.requests.forEach(({ is, since }, i) => {
      if (is !== 'working' && is !== 'promised') return;
      const becomes = (next: Request['is']) => withRequest(world, i, { is: next, since: world.now });
      const who = 'upstream';
      if (this.remembers(world, intent))
        emit(who, `attempt ${i + 1} is answered from the memory of its key`, becomes('repeated'));
      else emit(who, `attempt ${i + 1} takes effect`, becomes('done'));
      const isLast = world.now >= since + this.bounds.processing;
      // Only then does it make a difference that it does not take effect.
      if (isLast && this.bounds.declared !== 'overdue') emit(who, `attempt ${i + 1} comes to nothing`, becomes('lost'));
      const heard = world.dispatchers.some(({ at, attempt }) => at === 'sent' && attempt === i + 1);
      if (is === 'promised' || !heard) return;
      emit(who, `attempt ${i + 1} is refused`, becomes('refused'));
      if (this.bounds.promises)
        emit(who, `attempt ${i + 1} is accepted for later`, withRequest(world, i, { is: 'promised', since }));
    });
  }

  /** As briefly as is declared, counted from the first attempt. */
  private remembers({ requests, now }: World, intent: Intent): boolean {
    const { guarantee, retentionMs } = this.bounds.terms;
    if (guarantee !== 'idempotency_key' && guarantee !== 'conditional_create') return false;
    const first = intent.attempts[0]?.startedAt ?? 0;
    return now < first + retentionMs && requests.some(({ is }) => is === 'done');
  }

  private sweepersAndPeople(world: World, intent: Intent, emit: Emit): void {
    const { now } = world;
    const by = (who: string, command: Command) => {
      for (const written of this.write(world, intent, command, 0)) emit(who, written.what, written.world);
    };
    if (intent.state === 'dispatching' && now >= intent.attempt.leaseUntil)
      by('sweeper', { type: 'expire_lease', jitter: 0 });
    if (intent.state === 'authorized' && now >= intent.expiresAt) by('sweeper', { type: 'expire' });
    if (this.bounds.cancels && intent.cancelledBy === null && !isTerminal(intent))
      by('person', { type: 'cancel', by: 'ann' });
    if (this.bounds.resolves && !isTerminal(intent)) {
      const outcome = world.requests.some(({ is }) => is === 'done') ? 'executed' : 'not_executed';
      by('person', { type: 'resolve', by: 'olga', outcome, externalId: null, evidence: 'looked' });
    }
    if (intent.state === 'dead_lettered' && world.replays < this.bounds.replays) {
      for (const { what, world: next } of this.write(world, intent, { type: 'replay', by: 'olga', reason: '' }, 0)) {
        emit('person', what, { ...next, replays: world.replays + 1 });
      }
    }
  }

  private dispatcher(
    world: World,
    intent: Intent,
    { at, attempt, since, told }: Dispatcher,
    turned: (d: Dispatcher) => Pick<World, 'dispatchers'>,
    emit: Emit,
  ): void {
    const who = 'dispatcher';
    const go = (what: string, next: Dispatcher, from = world) => emit(who, what, { ...from, ...turned(next) });
    const knows = (is: Dispatcher['told']): Dispatcher => ({ at: 'reporting', attempt, since: world.now, told: is });
    if (at !== 'idle') go('dies', idleDispatcher);
    switch (at) {
      case 'idle': {
        // Whoever has heard a ring holds nothing yet: it may as well have come just now.
        if (intent.state !== 'authorized' && intent.state !== 'dispatching') return;
        if (intent.attempts.length >= this.bounds.attempts) return;
        const number = intent.attempts.length + 1;
        const command: Command = { type: 'start_attempt', attemptId: `try-${number}` };
        for (const written of this.write(world, intent, command, 0)) {
          const started = this.book.at(written.world.intent).attempts.length === number;
          const next: Dispatcher = { at: 'started', attempt: number, since: written.at, told: 'nothing' };
          go(written.what, started ? next : idleDispatcher, written.world);
        }
        return;
      }
      case 'started': {
        const mayStart = world.now < since + this.bounds.terms.leaseMs - this.bounds.skew;
        go(mayStart ? 'cannot connect' : 'sees that its lease is over', knows('unsent'));
        if (!mayStart) return;
        if (this.bounds.declared === 'stopped')
          go('looks at its lease', { at: 'checked', attempt, since: 0, told: 'nothing' });
        else this.send(world, attempt, go);
        return;
      }
      case 'checked':
        this.send(world, attempt, go);
        return;
      case 'sent': {
        const { is } = world.requests[attempt - 1] as Request;
        go('gets no answer', knows('unknown'));
        if (is === 'done' || is === 'repeated') go('is answered: executed', knows('executed'));
        if (is === 'promised') go('is answered: accepted', knows('accepted'));
        if (is === 'refused') {
          go('is answered: refused', knows('refused'));
          go('is answered: too busy', knows('busy'));
        }
        return;
      }
      case 'reporting': {
        if (told === 'nothing') return;
        const command = {
          type: 'record_verdict',
          attemptId: `try-${attempt}`,
          verdict: verdicts[told],
          jitter: 0,
        } as const;
        for (const written of this.write(world, intent, command, since))
          go(written.what, idleDispatcher, written.world);
        return;
      }
    }
  }

  private send(world: World, attempt: number, go: (what: string, next: Dispatcher, from: World) => void): void {
    const sent = withRequest(world, attempt - 1, { is: 'working', since: world.now });
    go(`sends attempt ${attempt}`, { at: 'sent', attempt, since: 0, told: 'nothing' }, sent);
  }

  private reconciler(
    world: World,
    intent: Intent,
    { at, when, answer }: Reconciler,
    turned: (r: Reconciler) => Pick<World, 'reconcilers'>,
    emit: Emit,
  ): void {
    const { now } = world;
    const go = (what: string, next: Reconciler, from = world) => emit('reconciler', what, { ...from, ...turned(next) });
    const finds = (is: Reconciler['answer']) => go(`is answered: ${is}`, { at: 'answered', when: now, answer: is });
    const effects = world.requests.filter(({ is }) => is === 'done');
    if (at !== 'idle') go('dies', idleReconciler);
    switch (at) {
      case 'idle':
        if ((intent.state !== 'unknown' && intent.state !== 'accepted') || now < intent.dueAt) return;
        finds('cannot_tell');
        if (this.bounds.terms.lookup === 'none') return;
        if (effects.length > 0) finds('present');
        if (effects.some((e) => e.since <= now - this.bounds.lookupLag)) return;
        // An absence is never found later only: it was there when it was asked for. What is found may come about meanwhile.
        finds('absent');
        go('asks', { at: 'asking', when: 0, answer: 'nothing' });
        return;
      case 'asking':
        if (effects.length > 0) finds('present');
        return;
      case 'answered': {
        if (answer === 'nothing') return;
        const command: Command = {
          type: 'record_lookup',
          answer: lookups[answer],
          askedAt: answer === 'present' ? 0 : when,
          ...(answer === 'present' && { answeredAt: when }),
        };
        for (const written of this.write(world, intent, command, when)) go(written.what, idleReconciler, written.world);
        return;
      }
    }
  }

  /**
   * Decided now or a little earlier, by whoever has known since `since`, and written now: nobody wrote in between, or it
   * would be decided again.
   */
  private write(world: World, intent: Intent, command: Command, since: number): Written[] {
    const { now, writtenAt } = world;
    const earliest = Math.max(since, writtenAt, now - this.bounds.skew);
    const results: Written[] = [];
    for (const at of earliest < now ? [now, earliest] : [now]) {
      const page = this.book.append(world.intent, command, at);
      if (!page) continue;
      if (page.broken) throw page.broken;
      let { absences, absentUpTo } = world;
      const requests = [...world.requests];
      for (const event of page.events) {
        if (event.type === 'attempt_started') {
          checkStart(world, intent, absentUpTo, at, this.bounds);
          requests.push({ is: 'none', since: 0 });
        }
        absences = absencesAfter(event, absences, command, intent, this.bounds);
        if (event.type === 'lookup_absent' && absences > 1) absentUpTo = intent.attempts.length;
      }
      const what = `${command.type}${at < now ? ` (decided at ${at})` : ''}: ${page.events.map((e) => e.type).join(', ')}`;
      results.push({
        at,
        world: { ...world, writtenAt: now, intent: page.intent, absences, absentUpTo, requests },
        what,
      });
    }
    return results;
  }
}
