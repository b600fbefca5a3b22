import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Command } from './commands.js';
import { decide } from './decide.js';
import { fold } from './evolve.js';
import { type Recorded, sending } from './given.spec-helper.js';
import { authorized, read, recorded, refused, silence, start } from './samples.spec-helper.js';
import type { Intent } from './state.js';
import type { Verdict } from './verdict.js';

const ended = (number: number, verdict: Verdict, jitter: number): Command => {
  return { type: 'record_verdict', attemptId: `try-${number}`, verdict, jitter };
};

describe('the pause before a read is tried again', () => {
  it('is spread over the whole of the backoff, which doubles', () => {
    const first = (jitter: number) => sending(read).when(ended(1, silence, jitter), 8_000);
    const authorizedAt = (notBefore: number) => ({ type: 'authorized', notBefore }) as const;
    const fact = { type: 'attempt_not_executed' } as const;
    first(0).accepts(fact, authorizedAt(8_000));
    first(0.999).accepts(fact, authorizedAt(8_999));
    const second = first(0)
      .accepts(fact, authorizedAt(8_000))
      .when(start(2), 8_000)
      .accepts({ type: 'attempt_started' });
    second.when(ended(2, silence, 0), 16_000).accepts(fact, authorizedAt(16_000));
    second.when(ended(2, silence, 0.75), 16_000).accepts(fact, authorizedAt(17_500));
  });

  it('is as long as the upstream asked for, where that is longer', () => {
    sending(read)
      .when(ended(1, refused('http_429', true, 60_000), 0.5), 900)
      .accepts({ type: 'attempt_not_executed' }, { type: 'authorized', notBefore: 60_900 });
  });
});

/** Tries a read again and again until it has an outcome; each attempt takes and waits as `pace` says. */
function triedToTheEnd(
  runEnds: number,
  paces: readonly Pace[],
  maxAttempts: number,
): { starts: number[]; intent: Intent } {
  const terms = { ...read, maxAttempts };
  const log: Recorded[] = [
    { event: recorded(terms, { expiresAt: runEnds }), at: 0 },
    { event: authorized(), at: 0 },
  ];
  const starts: number[] = [];
  let now = 0;
  for (const { takes, late, jitter, retryAfterMs } of paces) {
    const before = fold(log) as Intent;
    if (before.state !== 'authorized') break;
    now = Math.max(now, before.notBefore ?? 0) + late;
    const number = before.attempts.length + 1;
    for (const [command, at] of [
      [start(number), now],
      [ended(number, refused('connect_refused', true, retryAfterMs), jitter), now + takes],
    ] as const) {
      const decision = decide(command, fold(log), at);
      if (decision.kind !== 'accepted') break;
      for (const event of decision.events) log.push({ event, at });
      if (decision.events[0]?.type === 'attempt_started') starts.push(at);
    }
    now += takes;
  }
  return { starts, intent: fold(log) as Intent };
}

interface Pace {
  readonly takes: number;
  readonly late: number;
  readonly jitter: number;
  readonly retryAfterMs: number | null;
}

describe('the retries of a read', () => {
  const pace = fc.record({
    takes: fc.integer({ min: 1, max: 9_000 }),
    late: fc.integer({ min: 0, max: 500 }),
    jitter: fc.double({ min: 0, max: 0.999, noNaN: true }),
    retryAfterMs: fc.option(fc.integer({ min: 0, max: 20_000 })),
  });

  it('start before the end of the run, are no more than allowed, and end in an outcome', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 60_000 }),
        fc.integer({ min: 1, max: 8 }),
        fc.array(pace, { minLength: 9, maxLength: 9 }),
        (runEnds, maxAttempts, paces) => {
          const { starts, intent } = triedToTheEnd(runEnds, paces, maxAttempts);
          for (const at of starts) expect(at).toBeLessThan(runEnds);
          expect(starts.length).toBeLessThanOrEqual(maxAttempts);
          expect(['failed', 'expired']).toContain(intent.state);
        },
      ),
    );
  });

  it('are not even planned for after the end of the run', () => {
    const { intent, starts } = triedToTheEnd(10_000, [{ takes: 9_500, late: 0, jitter: 0.9, retryAfterMs: null }], 3);
    expect({ state: intent.state, starts }).toEqual({ state: 'failed', starts: [0] });
  });
});
