import { expect } from 'vitest';
import type { ApprovalRequest } from './approval.js';
import type { Command, Rejection } from './commands.js';
import { decide } from './decide.js';
import type { EventType, IntentEvent } from './events.js';
import { evolve, fold } from './evolve.js';
import { authorized, keyed, recorded, request, silence, start, started, verdict } from './samples.spec-helper.js';
import type { Intent, StateName } from './state.js';
import type { Terms } from './terms.js';

export interface Recorded {
  readonly event: IntentEvent;
  readonly at: number;
}

/** An event of which a spec names only what matters to it. */
export type ExpectedEvent = { readonly type: EventType; readonly [field: string]: unknown };

/** An intent with a past. Every accepted command adds to it, so that a spec can go on. */
export class Scenario {
  readonly intent: Intent | null;

  constructor(intent: Intent | null) {
    this.intent = intent;
  }

  when(command: Command, at: number): Then {
    return new Then(this.intent, command, at);
  }

  isIn(state: StateName, fields: Readonly<Record<string, unknown>> = {}): this {
    expect(this.intent).toMatchObject({ state, ...fields });
    return this;
  }
}

/** What a command must have led to. */
export class Then {
  private readonly before: Intent | null;
  private readonly decision: ReturnType<typeof decide>;
  private readonly at: number;

  constructor(before: Intent | null, command: Command, at: number) {
    this.before = before;
    this.decision = decide(command, before, at);
    this.at = at;
  }

  /** Exactly these events, in this order; of each, at least the fields given. */
  accepts(...expected: readonly ExpectedEvent[]): Scenario {
    expect(this.decision).toMatchObject({ kind: 'accepted', events: expected });
    let intent = this.before;
    if (this.decision.kind === 'accepted') {
      for (const event of this.decision.events) intent = evolve(intent, event, this.at);
    }
    return new Scenario(intent);
  }

  rejects(reason: Rejection): Scenario {
    expect(this.decision).toEqual({ kind: 'rejected', reason });
    return new Scenario(this.before);
  }

  isUnchanged(): Scenario {
    expect(this.decision).toEqual({ kind: 'unchanged' });
    return new Scenario(this.before);
  }
}

export function given(...history: readonly Recorded[]): Scenario {
  return new Scenario(fold(history));
}

export function at(time: number, event: IntentEvent): Recorded {
  return { event, at: time };
}

/** Admitted at 0, nothing sent. */
export function admitted(terms: Terms = keyed): Scenario {
  return given(at(0, recorded(terms)), at(0, authorized()));
}

/** People were asked at 0, nothing sent. */
export function asking(first: Partial<ApprovalRequest> = {}, terms: Terms = keyed): Scenario {
  return given(at(0, recorded(terms)), at(0, { type: 'approval_requested', request: request('d1', first) }));
}

/** Attempt 1 is open since 0; its lease ends at 10 s. */
export function sending(terms: Terms = keyed): Scenario {
  return given(at(0, recorded(terms)), at(0, authorized()), at(0, started(1, terms.leaseMs)));
}

/** Attempt 1 timed out at 8 s, so that an absence means something from 38 s on. */
export function unanswered(terms: Terms = keyed): Scenario {
  return sending(terms).when(verdict(1, silence), 8_000).accepts({ type: 'outcome_unknown' });
}

/** Attempt 1 is proven absent, attempt 2 open since 45 s. */
export function sendingAgain(terms: Terms = keyed): Scenario {
  return resendAllowed(terms).when(start(2), 45_000).accepts({ type: 'attempt_started', attempt: 2 });
}

/** Attempt 1 timed out and was then twice, 40 s and 45 s, not found. */
export function resendAllowed(terms: Terms = keyed): Scenario {
  const lookups = (time: number) => ({
    type: 'record_lookup' as const,
    answer: { kind: 'absent' as const },
    askedAt: time,
  });
  return unanswered(terms)
    .when(lookups(39_000), 40_000)
    .accepts({ type: 'lookup_absent' })
    .when(lookups(45_000), 45_000)
    .accepts({ type: 'lookup_absent' }, { type: 'authorized', basis: 'absent' });
}
