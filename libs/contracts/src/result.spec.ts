import type { StateName } from '@intendant/intent';
import { describe, expect, test } from 'vitest';
import { type ErrorCode, errorKinds, Refusal } from './errors.js';
import { attempt, executedAfterAll, intentIn } from './intents.spec-helper.js';
import { httpStatusOf, isSettled, resultOf } from './result.js';

interface Expected {
  readonly outcome: string;
  readonly http: number;
  readonly code: ErrorCode | null;
  readonly settled: boolean;
}
const states: Readonly<Record<StateName, Expected>> = {
  pending: { outcome: 'undecided', http: 202, code: null, settled: false },
  awaiting_approval: { outcome: 'undecided', http: 202, code: null, settled: false },
  authorized: { outcome: 'undecided', http: 202, code: null, settled: false },
  dispatching: { outcome: 'undecided', http: 202, code: null, settled: false },
  accepted: { outcome: 'unknown', http: 202, code: 'outcome_unknown', settled: false },
  unknown: { outcome: 'unknown', http: 202, code: 'outcome_unknown', settled: false },
  dead_lettered: { outcome: 'unknown', http: 202, code: 'dead_lettered', settled: true },
  committed: { outcome: 'executed', http: 200, code: null, settled: true },
  failed: { outcome: 'not_executed', http: 200, code: 'upstream_unavailable', settled: true },
  denied: { outcome: 'not_executed', http: 403, code: 'permission_denied', settled: true },
  cancelled: { outcome: 'not_executed', http: 200, code: 'cancelled', settled: true },
  expired: { outcome: 'not_executed', http: 200, code: 'expired', settled: true },
};

describe('the result', () => {
  test.each(Object.entries(states))('of an intent that is %s says what is known', (name, expected) => {
    const state = name as StateName;
    const result = resultOf(intentIn(state), false);
    expect(result).toMatchObject({ status: state, outcome: expected.outcome, tool: 'payments.refund.create' });
    expect(result.error?.code ?? null).toBe(expected.code);
    expect(httpStatusOf(result)).toBe(expected.http);
    expect(isSettled(state)).toBe(expected.settled);
    expect(result.data).toEqual(state === 'committed' ? { refund_id: 're_9' } : null);
  });

  test('of a sandbox call is marked, of a real one says nothing about it', () => {
    expect(resultOf(intentIn('committed', { proposal: { sandbox: true } }), false)).toMatchObject({
      sandbox: true,
      outcome: 'executed',
    });
    expect(resultOf(intentIn('committed'), false)).not.toHaveProperty('sandbox');
  });

  test('of one that waits for people says for whom, until when, and that calling again does not help', () => {
    const { summary, approval } = resultOf(intentIn('awaiting_approval'), false);
    expect(summary).toBe(
      'payments.refund.create was not sent yet: it waits for the approval of 2 people (1 so far), until 2026-01-01T10:00:00.000Z. Do not call it again; read intent 01J9Z3M5V6W7X8Y9Z0A1B2C3D4 or wait for its outcome.',
    );
    expect(approval).toEqual({
      view: 'Refund 2499 cents of ord_1',
      why: ['payments.refund.create always needs a person.'],
      requester: 'ada',
      expiresAt: '2026-01-01T10:00:00.000Z',
      quorum: 2,
      given: 1,
    });
    expect(resultOf(intentIn('authorized'), false)).not.toHaveProperty('approval');
  });

  const cancelled = { cancelledBy: 'olga' };
  const turnedAway = { attempts: [attempt('not_executed')] };
  test.each([
    ['pending', {}, 'is still being worked on: it is recorded, nothing was sent yet.'],
    ['awaiting_approval', {}, 'was not sent yet: it waits for the approval of 2 people'],
    ['authorized', {}, 'is still being worked on: it is about to be sent.'],
    ['authorized', turnedAway, 'is still being worked on: it was turned away and is about to be sent again.'],
    ['dispatching', {}, 'is still being worked on: it is at its upstream, which has not answered yet'],
    ['dispatching', cancelled, 'is being cancelled for olga: it may have happened already, which is being found out.'],
    ['accepted', {}, 'took the request and is still working on it.'],
    ['unknown', {}, 'It may or may not have happened; this is being checked.'],
    ['unknown', cancelled, 'It was cancelled by olga and will not be sent again.'],
    [
      'dispatching',
      { ...cancelled, attempts: [attempt('unknown')] },
      'It was cancelled by olga and will not be sent again.',
    ],
  ] as const)(
    'of an intent that is open (%s, %o) says what is known and done, and not to call again',
    (state, core, words) => {
      const { summary, error } = resultOf(intentIn(state, core), false);
      const said = error?.message ?? summary;
      expect(said).toContain(words);
      expect(said).toContain('Do not call it again; read intent 01J9Z3M5V6W7X8Y9Z0A1B2C3D4 or wait for its outcome.');
    },
  );

  test('carries the ids of the submit and whether it is a replay, and nothing of the runtime layer', () => {
    const result = resultOf(intentIn('committed'), true);
    expect(result).toMatchObject({ replayed: true, stepId: 's1', runId: expect.stringMatching(/^run_/) });
    expect(JSON.stringify(result)).not.toMatch(/user_id|the key|digest/);
  });

  test('never invites to a retry while something may have happened', () => {
    const doubtful = [
      intentIn('unknown'),
      intentIn('accepted'),
      intentIn('dead_lettered'),
      intentIn('authorized', { attempts: [attempt('unknown')] }),
      intentIn('dispatching', { attempts: [attempt('unknown')] }),
    ];
    for (const intent of doubtful) {
      const { error, outcome } = resultOf(intent, false);
      expect(outcome, intent.state).toBe('unknown');
      expect(error, intent.state).toMatchObject({ retryable: false });
      expect(error?.message, intent.state).toMatch(/Do not call it again; .*01J9Z3M5V6W7X8Y9Z0A1B2C3D4/);
    }
  });

  test('says why it is not known', () => {
    expect(resultOf(intentIn('unknown'), false).error).toMatchObject({
      message: expect.stringMatching(
        /outcome of .* is not known \(http_502\)\. It may or may not have happened; this is being checked/,
      ),
      nextAction: 'check_outcome',
      details: { cause: 'http_502' },
    });
    expect(resultOf(intentIn('dead_lettered'), false).error).toMatchObject({
      message: expect.stringMatching(/only a person can find out \(no_way_to_tell: no lookup\)/),
      nextAction: 'ask_human',
    });
  });

  test('says of a dead letter that had no effect that nothing happened so far', () => {
    const gone = intentIn('dead_lettered', { attempts: [attempt('absent')] });
    expect(resultOf(gone, false)).toMatchObject({
      outcome: 'undecided',
      error: { message: expect.stringContaining('Nothing happened so far'), retryable: false, nextAction: 'ask_human' },
    });
  });

  test.each(['egress_refused', 'http_401', 'http_405'])('does not send an agent to its arguments for %s', (cause) => {
    const failure = { code: 'upstream_rejected', message: 'Nothing happened.', details: { cause } };
    expect(resultOf(intentIn('failed', {}, { failure }), false).error).toMatchObject({ nextAction: 'stop' });
  });

  test('names what came too late, and which declaration was broken', () => {
    const corrections = [{ attempt: null, finding: 'second_effect', data: null, breach: 'max_processing' } as const];
    expect(resultOf(intentIn('committed', { corrections }), false)).toMatchObject({
      status: 'committed',
      corrections: [{ finding: 'second_effect', breach: 'max_processing' }],
    });
    expect(resultOf(intentIn('committed'), false)).not.toHaveProperty('corrections');
  });

  test('says "nothing happened" of what was never sent', () => {
    for (const state of ['cancelled', 'expired'] as const) {
      expect(resultOf(intentIn(state), false).error?.message).toMatch(/Nothing happened/);
    }
  });

  test.each(['failed', 'cancelled', 'expired'] as const)(
    'takes back what it said of an intent that is %s when it did happen after all',
    (state) => {
      const { error, outcome } = resultOf(intentIn(state, { corrections: [executedAfterAll] }), false);
      expect(outcome).toBe('executed');
      expect(error).toMatchObject({ retryable: false, nextAction: 'check_outcome', details: { corrected: true } });
      expect(error?.message).toMatch(/it did happen/);
      expect(error?.message).not.toMatch(/Nothing happened|try/);
    },
  );

  test('calls a failure that the contract has no word for internal', () => {
    const failure = { code: 'from_a_later_version', message: 'm', details: {} };
    expect(resultOf(intentIn('failed', {}, { failure }), false).error).toMatchObject({
      code: 'internal',
      message: 'm',
    });
  });
});

test('every code has a status, a category and a next action, and only waiting or fixing invites to a retry', () => {
  for (const [code, kind] of Object.entries(errorKinds)) {
    expect(kind.http, code).toBeGreaterThanOrEqual(200);
    if (kind.retryable) expect(['wait', 'fix_arguments'], code).toContain(kind.nextAction);
  }
});

test('a refusal carries the whole error object', () => {
  const refusal = new Refusal('unknown_tool', 'There is no tool x.', { suggestion: 'y' });
  expect(refusal.message).toBe('There is no tool x.');
  expect(refusal.error).toEqual({
    code: 'unknown_tool',
    category: 'validation',
    message: 'There is no tool x.',
    retryable: false,
    nextAction: 'choose_other_tool',
    details: { suggestion: 'y' },
  });
});
