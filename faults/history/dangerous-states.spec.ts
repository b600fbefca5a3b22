import { expect, it } from 'vitest';
import { dangerousStates, reached } from './dangerous-states.js';
import { attempt, historyOf, idAt100, outage, type Parts } from './dangerous-states.spec-helper.js';

const recorded = [10, 'recorded', { proposal: { args: { ref: 'r1' } } }] as const;
const started = [100, 'attempt_started', attempt()] as const;
const again = [9_000, 'attempt_started', attempt(2, 14_000)] as const;
const committed = [200, 'committed', { proof: 'response', attempt: 1 }] as const;
const leaseEnded = [6_000, 'outcome_unknown', { cause: 'lease_expired', settleAt: 8_000 }] as const;
const answerLost = [200, 'outcome_unknown', { cause: 'reset_after_send', settleAt: 2_200 }] as const;
const authorized = (basis: string) => [8_900, 'authorized', { basis }] as const;
const request = (at: number, number = 1) => ({ at, kind: 'request', attemptId: `attempt-${number}` }) as const;
const effect = (at: number, number = 1) => ({ at, kind: 'effect', attemptId: `attempt-${number}` }) as const;
const lookup = (at: number, answer: string) => ({ at, kind: 'lookup', answer }) as const;
const open = [recorded, started, leaseEnded] as const;
const submit = (at: number, requestId: string) => ({ at, requestId });
const answered = (at: number, requestId: string, answer: object) => ({ at, requestId, answer });

/** For each state a history that reaches it once, and one that is alike and does not. */
const table: Record<string, readonly [once: Parts, not: Parts]> = {
  'lease ended with an attempt open': [{ events: open }, { events: [recorded, started, answerLost] }],
  'late verdict': [
    { events: [...open, [6_500, 'committed', { proof: 'response', attempt: 1 }]] },
    { events: [...open, [6_500, 'committed', { proof: 'lookup', attempt: 1 }]] },
  ],
  'effect without an answer': [
    { events: open, ledger: [effect(150)] },
    { events: open, ledger: [request(150)] },
  ],
  'answer lost after the effect': [
    { events: [recorded, started, answerLost], ledger: [effect(150)] },
    { events: open, ledger: [effect(150)] },
  ],
  'no answer and no effect': [
    { events: open, ledger: [request(150)] },
    { events: open, ledger: [request(150), effect(151)] },
  ],
  'settle wait': [
    { events: open, ledger: [lookup(7_000, 'absent')] },
    { events: open, ledger: [lookup(8_500, 'absent')] },
  ],
  'two absences, then a resend': [
    { events: [...open, authorized('absent'), again], ledger: [request(9_100, 2)] },
    { events: [...open, authorized('absent'), again] },
  ],
  'resend under the same key': [
    { events: [...open, authorized('same_key'), again], ledger: [request(9_100, 2)] },
    { events: [...open, authorized('absent'), again], ledger: [request(9_100, 2)] },
  ],
  'resend after a refusal': [
    { events: [...open, authorized('not_executed'), again], ledger: [request(9_100, 2)] },
    { events: [...open, authorized('not_executed')], ledger: [request(150)] },
  ],
  'late commit after an absence': [
    { events: [...open, [8_500, 'lookup_absent', { absences: 1 }]], ledger: [effect(8_600)] },
    { events: [...open, [8_500, 'lookup_absent', { absences: 1 }]], ledger: [effect(8_400)] },
  ],
  'lookup behind the effect': [
    { ledger: [effect(150), lookup(160, 'absent')] },
    { ledger: [lookup(140, 'absent'), effect(150)] },
  ],
  'lookup failed while unknown': [
    { events: open, ledger: [lookup(7_000, 'hang')] },
    { events: open, ledger: [lookup(5_000, 'hang')] },
  ],
  'settled by a lookup': [
    { events: [...open, [7_000, 'committed', { proof: 'lookup' }]] },
    { events: [recorded, started, committed] },
  ],
  'taken on, then polled': [
    {
      events: [recorded, started, [200, 'accepted', { attempt: 1 }]],
      ledger: [{ at: 300, kind: 'poll', answer: 'done' }],
    },
    {
      events: [recorded, started, [200, 'accepted', { attempt: 1 }]],
      ledger: [{ at: 300, kind: 'poll', answer: 'queued' }],
    },
  ],
  'taken on, then given up': [
    { events: [[200, 'attempt_not_executed', { cause: 'operation_failed' }]] },
    { events: [[200, 'attempt_not_executed', { cause: 'http_400' }]] },
  ],
  'second effect told': [
    { events: [recorded, started, committed, [300, 'corrected', { finding: 'second_effect' }]] },
    { events: [recorded, started, committed, [300, 'corrected', { finding: 'executed' }]] },
  ],
  'corrected after its end': [
    { events: [recorded, started, committed, [300, 'corrected', { finding: 'executed' }]] },
    { events: [recorded, started, committed] },
  ],
  'cancelled before it was sent': [{ events: [recorded, [20, 'cancelled']] }, { events: [recorded] }],
  'cancelled in flight': [
    { events: [recorded, started, [150, 'cancel_requested']] },
    { events: [recorded, [20, 'cancelled']] },
  ],
  expired: [{ events: [recorded, [20, 'expired']] }, { events: [recorded] }],
  'replayed by an operator': [
    { events: [...open, [7_000, 'replay_requested', { settleAt: 7_001 }]] },
    { events: open },
  ],
  'resolved by an operator': [{ events: [...open, [7_000, 'resolved']] }, { events: open }],
  ...Object.fromEntries(
    dangerousStates
      .filter(({ name }) => name.startsWith('dead letter: '))
      .map(({ name }) => {
        const reason = name.slice('dead letter: '.length);
        return [
          name,
          [
            { events: [...open, [7_000, 'dead_lettered', { reason }]] },
            { events: [...open, [7_000, 'dead_lettered', { reason: 'another' }]] },
          ],
        ];
      }),
  ),
  'duplicate submit': [
    { clients: [answered(20, 'a', { intentId: 'i1', replayed: true })] },
    { clients: [answered(20, 'a', { intentId: 'i1' })] },
  ],
  'submits at the same time': [
    {
      clients: [
        submit(10, 'a'),
        submit(11, 'b'),
        answered(20, 'a', { intentId: 'i1' }),
        answered(21, 'b', { intentId: 'i1' }),
      ],
    },
    {
      clients: [
        submit(10, 'a'),
        answered(20, 'a', { intentId: 'i1' }),
        submit(21, 'b'),
        answered(22, 'b', { intentId: 'i1' }),
      ],
    },
  ],
  conflict: [
    { clients: [answered(20, 'a', { code: 'idempotency_conflict' })] },
    { clients: [answered(20, 'a', { code: 'conflict' })] },
  ],
  'answer to a submit lost': [
    { events: [recorded], clients: [submit(5, 'a'), { at: 20, requestId: 'a', phase: 'unanswered' }] },
    { events: [recorded], clients: [submit(15, 'a'), { at: 20, requestId: 'a', phase: 'unanswered' }] },
  ],
  'submit refused for want of a service': [
    { clients: [answered(20, 'a', { code: 'unavailable' })] },
    { clients: [answered(20, 'a', { code: 'internal' })] },
  ],
  'told that the outcome is unknown': [
    { clients: [answered(20, 'a', { intentId: 'i1', outcome: 'unknown' })] },
    { clients: [answered(20, 'a', { intentId: 'i1', outcome: 'undecided' })] },
  ],
  'cancel refused': [
    { clients: [{ ...answered(20, 'a', { code: 'conflict' }), operation: 'cancel' }] },
    { clients: [answered(20, 'a', { code: 'conflict' })] },
  ],
  'ambiguous commit': [
    {
      events: [recorded],
      faults: outage('cut', 'policy/0>postgres', 12, undefined, { direction: 'to_client', after: 'append' }),
    },
    {
      events: [recorded],
      faults: outage('cut', 'policy/0>postgres', 900, undefined, { direction: 'to_client', after: 'append' }),
    },
  ],
  'ambiguous publish': [
    { faults: outage('cut', 'policy/0>nats', 12, undefined, { direction: 'to_client', after: 'HPUB intendant.' }) },
    { faults: outage('cut', 'policy/0>nats', 12, undefined, { direction: 'to_client', after: '+ACK' }) },
  ],
  'published twice': [{ heard: 2 }, { heard: 1 }],
  'request cut on its way': [
    { faults: outage('cut', 'dispatcher/0>upstream', 12) },
    { faults: [{ at: 12, kind: 'cut', phase: 'begin', target: 'dispatcher/0>upstream', happened: false }] },
  ],
  'dispatcher killed with an attempt open': [
    { events: open, faults: outage('kill', 'dispatcher/0', 150) },
    { events: open, faults: outage('kill', 'policy/0', 150) },
  ],
  'paused beyond a lease': [
    { events: open, faults: outage('pause', 'dispatcher/0', 150, 7_000) },
    { events: open, faults: outage('pause', 'dispatcher/0', 150, 4_000) },
  ],
  'event loop blocked with an attempt open': [
    { events: open, faults: outage('block', 'dispatcher/0', 150) },
    { events: open, faults: outage('block', 'dispatcher/0', 50) },
  ],
  'stopped in order with an attempt open': [
    { events: open, faults: outage('stop', 'dispatcher/0', 150) },
    { events: open, faults: outage('stop', 'dispatcher/0', 6_500) },
  ],
  'reconciler gone with an outcome open': [
    { events: [...open, [9_000, 'lookup_absent']], faults: outage('kill', 'reconciler/0', 7_000) },
    { events: [...open, [9_000, 'lookup_absent']], faults: outage('kill', 'reconciler/0', 5_000) },
  ],
  'killed at a fault point': [
    { faults: outage('fault_point', 'dispatcher/0', 7_000) },
    { faults: [{ at: 12, kind: 'fault_point', phase: 'begin', target: 'dispatcher/0', happened: false }] },
  ],
  'several rang for one intent': [
    { faults: outage('echo', 'dispatcher', 7_000, 8_000, { rung: 1 }) },
    { faults: outage('echo', 'dispatcher', 7_000, 8_000, { rung: 0 }) },
  ],
  'rung again long after': [
    { faults: outage('ring', 'dispatcher', 7_000, undefined, { intents: 1 }) },
    { faults: outage('ring', 'dispatcher', 7_000, undefined, { intents: 0 }) },
  ],
  'NATS lost its store with work under way': whileWorking('nats.wipe', 'nats'),
  'NATS turned back to an old store': whileWorking('nats.restore', 'nats'),
  'consumer deleted': whileWorking('nats.delete_consumer', 'nats'),
  'NATS away with work under way': whileWorking('nats.kill', 'nats/0'),
  'leader of the cluster lost': whileWorking('nats.leader', 'nats/0'),
  'PostgreSQL crashed with an attempt open': whileWorking('postgres.crash', 'postgres'),
  'PostgreSQL away with an attempt open': whileWorking('postgres.pause', 'postgres'),
  'database was read-only': whileSubmitting('postgres.read_only'),
  'backends terminated': [
    { faults: outage('postgres.terminate', 'postgres', 1, undefined, { backends: 1 }) },
    { faults: outage('postgres.terminate', 'postgres', 1, undefined, { backends: 0 }) },
  ],
  'connections exhausted': whileSubmitting('postgres.exhaust'),
  'transaction held open': whileSubmitting('postgres.hold'),
  'attempt started under a wrong clock': [
    {
      events: [recorded, [1_100, 'attempt_started', { ...attempt(), attemptId: idAt100 }]],
      faults: outage('clock', 'dispatcher/1', 0, undefined, { offsetMs: -1_000 }),
    },
    {
      events: [recorded, [1_100, 'attempt_started', { ...attempt(), attemptId: idAt100 }]],
      faults: outage('clock', 'policy/1', 0, undefined, { offsetMs: -1_000 }),
    },
  ],
  'half-open connection': [{ faults: outage('blackhole', 'policy/0>nats', 1, 9) }, {}],
  partition: [{ faults: outage('partition', 'policy/0>nats', 1, 9) }, {}],
};

function whileWorking(kind: string, target: string): readonly [Parts, Parts] {
  return [
    { events: open, faults: outage(kind, target, 150) },
    { events: open, faults: outage(kind, target, 9_000) },
  ];
}

function whileSubmitting(kind: string): readonly [Parts, Parts] {
  return [
    { clients: [submit(150, 'a')], faults: outage(kind, 'postgres', 100, 200) },
    { clients: [submit(250, 'a')], faults: outage(kind, 'postgres', 100, 200) },
  ];
}

it('tries every state that it counts, each under a name of its own', () => {
  expect(Object.keys(table).sort()).toEqual(dangerousStates.map(({ name }) => name).sort());
});

it.each(Object.entries(table))('counts "%s" where it was reached, and only there', (name, [once, not]) => {
  expect(reached(historyOf(once))[name]).toBe(1);
  expect(reached(historyOf(not))[name]).toBe(0);
});

it('leaves out nothing that was not reached', () => {
  expect(Object.keys(reached(historyOf({})))).toEqual(dangerousStates.map(({ name }) => name));
});
